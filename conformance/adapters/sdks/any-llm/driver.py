"""Drives any-llm: the loop of its documentation, which appends the reply's message to the history.

any-llm does not assemble streams, so only plain replies are requested.
"""

import sys
from pathlib import Path
from typing import Any

from any_llm import completion

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive, loop


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    tools = [tool.as_openai() for tool in job.tools]
    where = {"api_base": job.base_url, "api_key": job.api_key, "provider": job.provider, "model": job.model}

    def ask(history: list[Any]) -> Any:
        return completion(messages=history, tools=tools or None, **where).choices[0].message

    return loop(job, ask)


drive(talk, "any-llm-sdk", "openai")
