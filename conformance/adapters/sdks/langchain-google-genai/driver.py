"""Drives LangChain's agent with ChatGoogleGenerativeAI of langchain-google-genai."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from langchain_google_genai import ChatGoogleGenerativeAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import langchain_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = ChatGoogleGenerativeAI(
        model=job.model,
        base_url=job.base_url.removesuffix("/v1"),
        api_key=job.api_key,
        streaming=job.stream,
        include_thoughts=True,
        timeout=20,
    )
    return langchain_agent.talk(job, model)


drive(talk, "langchain-google-genai", "langchain-core", "langchain", "google-genai")
