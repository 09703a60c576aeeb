"""Drives LiteLLM with Gemini: the loop of its documentation, which appends the reply's message object to the history.

LiteLLM takes messages of chat completions and translates them. Its own stream_chunk_builder assembles streams.
"""

import sys
from pathlib import Path
from typing import Any

import litellm

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive, loop


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    litellm.suppress_debug_info = True
    # Releases of 2025 know no effort for this model.
    litellm.drop_params = True
    tools = [tool.as_openai() for tool in job.tools]
    fixed: dict[str, Any] = {"model": f"gemini/{job.model}", "api_base": job.base_url, "api_key": job.api_key}
    fixed |= {"stream": job.stream, "timeout": 20, "reasoning_effort": "high"} | ({"tools": tools} if tools else {})

    def ask(history: list[Any]) -> Any:
        reply = litellm.completion(messages=history, **fixed)
        whole = litellm.stream_chunk_builder(list(reply), messages=history) if job.stream else reply
        return whole.choices[0].message

    return loop(job, ask)


drive(talk, "litellm")
