"""Drives LLM, the library behind the command of that name, with its plugin for Anthropic."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from llm_anthropic import AsyncClaudeMessages

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import llm_chain
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    url = job.base_url.removesuffix("/v1")
    model = AsyncClaudeMessages(job.model, supports_thinking=True, default_max_tokens=4096, base_url=url)
    return llm_chain.talk(job, model, thinking=True)


drive(talk, "llm-anthropic", "llm", "anthropic")
