"""Drives LlamaIndex with its GoogleGenAI class."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from google.genai import types
from llama_index.llms.google_genai import GoogleGenAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import llama_index_agent
from driving import Job, drive

SETTINGS = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation; with both limits given, the class does not ask the server for them."""
    options = types.HttpOptions(base_url=job.base_url.removesuffix("/v1"), timeout=20_000)
    limits = {"max_tokens": 4096, "context_window": 100_000}
    model = GoogleGenAI(job.model, api_key=job.api_key, http_options=options, generation_config=SETTINGS, **limits)
    return llama_index_agent.talk(job, model)


drive(talk, "llama-index-llms-google-genai", "llama-index-core", "google-genai")
