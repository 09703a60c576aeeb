"""Drives LLM, the library behind the command of that name."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from llm.default_plugins.openai_models import AsyncChat

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import llm_chain
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = AsyncChat(job.model, model_name=job.model, api_base=job.base_url, supports_tools=True)
    return llm_chain.talk(job, model)


drive(talk, "llm", "openai")
