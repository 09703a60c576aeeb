"""Drives CAMEL: a chat agent with the provider's model class, which keeps its memory."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from camel.agents import ChatAgent
from camel.models import BaseModelBackend, DeepSeekModel, MoonshotModel, OpenAICompatibleModel, OpenRouterModel
from camel.toolkits import FunctionTool
from camel.utils import BaseTokenCounter

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, drive

CLASSES = {"deepseek": DeepSeekModel, "moonshot": MoonshotModel, "openrouter": OpenRouterModel}


async def talk(job: Job) -> AsyncIterator[str]:
    """Hold the conversation."""
    tools: list[Any] = [tool_of(tool) for tool in job.tools]
    settings = {"stream_accumulate": True, "max_iteration": job.max_turns}
    agent = ChatAgent(job.system or None, model=model_of(job), tools=tools, **settings)
    for prompt in job.prompts:
        response = await agent.astep(prompt)
        if job.stream:
            async for chunk in response:
                response = chunk
        yield response.msgs[0].content


def model_of(job: Job) -> BaseModelBackend:
    """Return a model of the provider's own class, or of the one for OpenAI-compatible servers."""
    model_class = CLASSES.get(job.provider, OpenAICompatibleModel)
    settings = {"stream": True} if job.stream else {}
    where = {"api_key": job.api_key, "url": job.base_url, "timeout": 20}
    return model_class(job.model, model_config_dict=settings, token_counter=WordCounter(), **where)


class WordCounter(BaseTokenCounter):
    """Counts words; CAMEL's own counter needs a download."""

    def count_tokens_from_messages(self, messages: list[Any]) -> int:
        """Return the number of words in the messages."""
        return sum(len(str(message).split()) for message in messages)

    def encode(self, text: str) -> list[int]:
        """Return one number for each word."""
        return list(range(len(text.split())))

    def decode(self, token_ids: list[int]) -> str:
        """Return one word for each number."""
        return " ".join("word" for _ in token_ids)


def tool_of(tool: Tool) -> FunctionTool:
    """Return a tool of the job, defined by its schema."""

    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return FunctionTool(call, openai_tool_schema=tool.as_openai())


drive(talk, "camel-ai", "openai")
