"""Drives the OpenAI SDK: a loop that appends the reply's message object to the history, as its documentation does.

The SDK's own helper assembles streams; its final completion has the message.
"""

import sys
from pathlib import Path
from typing import Any

from openai import OpenAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive, loop


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    client = OpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    tools = [tool.as_openai() for tool in job.tools]
    fixed: dict[str, Any] = {"model": job.model, **({"tools": tools} if tools else {})}

    def ask(history: list[Any]) -> Any:
        choice = reply(history).choices[0]
        job.ended(choice.finish_reason)
        return choice.message

    def reply(history: list[Any]) -> Any:
        if not job.stream:
            return client.chat.completions.create(messages=history, **fixed)
        with client.chat.completions.stream(messages=history, **fixed) as stream:
            stream.until_done()
            return stream.get_final_completion()

    return loop(job, ask)


drive(talk, "openai")
