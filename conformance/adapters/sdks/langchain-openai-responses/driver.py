"""Drives LangChain's agent with ChatOpenAI of langchain-openai on Responses, stateless unless the job says so."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from langchain_openai import ChatOpenAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import langchain_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    model = ChatOpenAI(
        model=job.model,
        base_url=job.base_url,
        api_key=job.api_key,
        streaming=job.stream,
        use_responses_api=True,
        store=bool(job.state),
        include=None if job.state else ["reasoning.encrypted_content"],
        use_previous_response_id=job.state == "response",
        timeout=20,
    )
    return langchain_agent.talk(job, model)


drive(talk, "langchain-openai", "langchain-core", "langchain")
