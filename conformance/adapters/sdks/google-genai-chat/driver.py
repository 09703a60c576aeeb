"""Drives the chat of the Google GenAI SDK, which keeps the history and calls Python functions by itself."""

import sys
from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from google import genai
from google.genai import types

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, Tool, drive


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    options = types.HttpOptions(base_url=job.base_url.removesuffix("/v1"), timeout=20_000)
    client = genai.Client(api_key=job.api_key, http_options=options)
    config = types.GenerateContentConfig(
        system_instruction=job.system or None,
        tools=[function_of(tool) for tool in job.tools] or None,
        thinking_config=types.ThinkingConfig(include_thoughts=True),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(maximum_remote_calls=job.max_turns),
    )
    chat = client.chats.create(model=job.model, config=config)
    for prompt in job.prompts:
        if job.stream:
            yield "".join([text_of(chunk) for chunk in chat.send_message_stream(prompt)])
        else:
            yield text_of(chat.send_message(prompt))


def function_of(tool: Tool) -> Callable[..., str]:
    """Return a tool of the job as a function whose signature has the types of its schema."""

    def call(**arguments: Any) -> str:
        return tool.call(arguments)

    call.__name__, call.__doc__ = tool.name, tool.description
    call.__annotations__ = {name: kind for name, (kind, _) in tool.fields().items()}
    call.__signature__ = Signature([  # type: ignore[attr-defined]
        Parameter(name, Parameter.KEYWORD_ONLY, default=Parameter.empty if default is ... else default, annotation=kind)
        for name, (kind, default) in tool.fields().items()
    ])  # fmt: skip
    return call


def text_of(reply: types.GenerateContentResponse) -> str:
    """Return the answer in a reply or a chunk, without reasoning."""
    content = reply.candidates[0].content if reply.candidates else None
    parts = (content.parts or []) if content else []
    return "".join(part.text for part in parts if part.text and not part.thought)


drive(talk, "google-genai")
