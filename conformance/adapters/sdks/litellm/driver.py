"""Drives LiteLLM: the loop of its documentation, which puts the reply's message object back into the history.

Streams are put together by LiteLLM's own stream_chunk_builder.
"""

import sys
from pathlib import Path
from typing import Any

import litellm

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive, loop

# Where LiteLLM's name of a provider, which stands before the model's, is another than the profile's.
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
        return whole.choices[0].message

    return loop(job, ask)


drive(talk, "litellm", "openai")
