"""Drives LlamaIndex with the provider's class."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.llms.deepseek import DeepSeek
from llama_index.llms.openai_like import OpenAILike

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import llama_index_agent
from driving import Job, drive


def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    return llama_index_agent.talk(job, model_of(job))


def model_of(job: Job) -> FunctionCallingLLM:
    """Return a model of the provider's own class, or of the one for OpenAI-compatible servers.

    LlamaIndex's lists of models that call functions are years old, so the model's abilities must be given.
    """
    where = {"model": job.model, "api_base": job.base_url, "api_key": job.api_key, "timeout": 20}
    abilities = {"is_chat_model": True, "is_function_calling_model": True}
    model_class = DeepSeek if job.provider == "deepseek" else OpenAILike
    return model_class(**where, **abilities)


drive(talk, "llama-index-core", "llama-index-llms-openai", "llama-index-llms-openai-like")
