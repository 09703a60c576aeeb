"""Drives Strands Agents: an agent with its OpenAI Responses model, which always streams.

It is stateless unless the job leaves its state to the server.
"""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from strands.models.openai_responses import OpenAIResponsesModel

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import strands_agent
from driving import Job, drive

STATELESS = {"store": False, "include": ["reasoning.encrypted_content"]}


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    client = {"base_url": job.base_url, "api_key": job.api_key, "timeout": 20}
    options = {"stateful": True} if job.state else {"params": STATELESS}
    return strands_agent.talk(job, OpenAIResponsesModel(client_args=client, model_id=job.model, **options))


drive(talk, "strands-agents", "openai")
