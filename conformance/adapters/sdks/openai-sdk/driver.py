"""Drives the OpenAI SDK: a loop that puts the reply's message object back into the history, as its documentation does.

Streams are put together by the SDK's own helper, whose final completion holds the message.
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
        if not job.stream:
            return client.chat.completions.create(messages=history, **fixed).choices[0].message
        with client.chat.completions.stream(messages=history, **fixed) as stream:
            stream.until_done()
            return stream.get_final_completion().choices[0].message

    return loop(job, ask)


drive(talk, "openai")
