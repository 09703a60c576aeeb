"""Drives any-llm: the loop of its documentation, which puts the reply's message back into the history.

It has nothing that puts a stream together, so it is asked for whole replies alone.
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
