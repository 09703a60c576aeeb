"""Drives LiteLLM: the loop of its documentation, which appends the reply's message object to the history.

LiteLLM's own stream_chunk_builder assembles streams.
"""

import sys
from pathlib import Path
from typing import Any

import litellm

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive, loop

# LiteLLM's names of providers, which prefix the model's name, as far as they differ from the profiles'.
PREFIXES = {"vllm": "hosted_vllm", "gemini_openai_compat": "openai", "alibaba_qwen": "dashscope"}


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    litellm.suppress_debug_info = True
    tools = [tool.as_openai() for tool in job.tools]
    where = {"model": f"{PREFIXES.get(job.provider, job.provider)}/{job.model}", "api_base": job.base_url}
    fixed: dict[str, Any] = {**where, "api_key": job.api_key, "stream": job.stream, "timeout": 20}

    def ask(history: list[Any]) -> Any:
        reply = litellm.completion(messages=history, **fixed, **({"tools": tools} if tools else {}))
        whole = litellm.stream_chunk_builder(list(reply), messages=history) if job.stream else reply
        job.ended(whole.choices[0].finish_reason)
        return whole.choices[0].message

    return loop(job, ask)


drive(talk, "litellm", "openai")
