"""Drives any-llm with Anthropic: chat completions as its caller speaks them, Messages as it sends them.

The loop appends the reply's message to the history, as the documentation does. any-llm does not assemble streams, so
only plain replies are requested.
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
    fixed: dict[str, Any] = {"provider": "anthropic", "model": job.model, "max_tokens": 4096, "reasoning_effort": "low"}
    fixed |= {"api_base": job.base_url.removesuffix("/v1"), "api_key": job.api_key, "tools": tools or None}

    def ask(history: list[Any]) -> Any:
        return completion(messages=history, **fixed).choices[0].message

    return loop(job, ask)


drive(talk, "any-llm-sdk", "anthropic")
