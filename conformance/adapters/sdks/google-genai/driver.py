"""Drives the Google GenAI SDK: a loop that appends the reply's content to the history, as Google's documentation does.

The SDK has no helper that assembles streams, so the parts of all chunks become one content.
"""

import sys
from pathlib import Path
from typing import Any

from google import genai
from google.genai import types

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    options = types.HttpOptions(base_url=job.base_url.removesuffix("/v1"), timeout=20_000)
    client = genai.Client(api_key=job.api_key, vertexai=job.provider == "vertex", http_options=options)
    functions = [
        types.FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)
        for tool in job.tools
    ]
    config = types.GenerateContentConfig(
        system_instruction=job.system or None,
        tools=[types.Tool(function_declarations=functions)] if functions else None,
        thinking_config=types.ThinkingConfig(include_thoughts=True),
    )

    def ask(history: list[Any]) -> types.Content:
        request: dict[str, Any] = {"model": job.model, "contents": history, "config": config}
        if not job.stream:
            return client.models.generate_content(**request).candidates[0].content
        chunks = client.models.generate_content_stream(**request)
        return types.Content(role="model", parts=[part for chunk in chunks for part in parts_of(chunk)])

    history: list[Any] = []
    for prompt in job.prompts:
        history.append(types.Content(role="user", parts=[types.Part(text=prompt)]))
        for _ in range(job.max_turns):
            content = ask(history)
            history.append(content)
            calls = [part.function_call for part in content.parts if part.function_call]
            if not calls:
                break
            history.append(types.Content(role="user", parts=results(job, calls)))
        yield "".join(part.text for part in content.parts if part.text and not part.thought)


def parts_of(chunk: types.GenerateContentResponse) -> list[types.Part]:
    """Return the parts of a chunk; the last one may have none."""
    content = chunk.candidates[0].content if chunk.candidates else None
    return list(content.parts or []) if content else []


def results(job: Job, calls: list[Any]) -> list[types.Part]:
    """Return the part with the result of each call; the key of a failure is `error`."""
    done = job.run_calls([(call.name, call.args) for call in calls])
    return [
        types.Part.from_function_response(name=call.name, response={"error" if failed else "result": text})
        for call, (text, failed) in zip(calls, done, strict=True)
    ]


drive(talk, "google-genai")
