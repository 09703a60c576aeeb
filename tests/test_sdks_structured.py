"""Real SDKs ask the simulator for structured output and for plain text; tested where the SDKs are installed.

`conformance adapter install aisdk-groq aisdk-openai-compatible litellm` installs them.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance import environments, profiles
from conformance.adapters import definition, install
from conformance.simulator import simulated

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "celsius": {"type": "integer"}},
    "required": ["city", "celsius"],
    "additionalProperties": False,
}


def environment(name: str) -> Path:
    """Return the environment of an adapter; skip the test if there is none."""
    adapter = definition.load(name)
    if not install.is_installed(adapter):
        pytest.skip(f"{name} is NOT tested: run `conformance adapter install {name}`")
    return install.environment_path(adapter)


def answered(command: list[str], folder: Path, code: str) -> Any:
    """Run a program that prints one JSON value, and return it."""
    done = subprocess.run(command, cwd=folder, input=code, capture_output=True, text=True, timeout=120, check=False)
    assert 0 == done.returncode, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def is_weather(value: Any) -> bool:
    return isinstance(value, dict) and [str, int] == [type(value.get(name)) for name in ("city", "celsius")]


AI_SDK = """
import {{ {maker} }} from "{package}";
import {{ generateObject, jsonSchema, streamObject }} from "ai";
const model = {made}("{model}");
const asked = {{ model, schema: jsonSchema({schema}), prompt: "How warm is it in Oslo?", maxRetries: 0 }};
const plain = await generateObject(asked);
const streamed = streamObject({{ ...asked, onError: ({{ error }}) => {{ throw error; }} }});
for await (const _ of streamed.partialObjectStream);
console.log(JSON.stringify([plain.object, await streamed.object, plain.finishReason]));
"""


@pytest.mark.parametrize(
    ("provider", "name", "package", "maker", "options"),
    [
        ("groq", "aisdk-groq", "@ai-sdk/groq", "createGroq", {}),
        (
            "openai",
            "aisdk-openai-compatible",
            "@ai-sdk/openai-compatible",
            "createOpenAICompatible",
            {"name": "openai", "supportsStructuredOutputs": True},
        ),
    ],
)
def test_the_ai_sdk_generates_objects(
    provider: str, name: str, package: str, maker: str, options: dict[str, Any]
) -> None:
    folder = environment(name)
    profile = profiles.load(provider)
    with simulated(profile) as url:
        made = f"{maker}({json.dumps({'baseURL': f'{url}/v1', 'apiKey': 'none', **options})})"
        code = AI_SDK.format(maker=maker, package=package, made=made, model=profile.model, schema=json.dumps(SCHEMA))
        plain, streamed, reason = answered(["node", "--input-type=module", "-"], folder, code)
    assert (True, True, "stop") == (is_weather(plain), is_weather(streamed), reason)


LITELLM = """
import json, sys, litellm
schema = {{"type": "json_schema", "json_schema": {{"name": "weather", "strict": True, "schema": {schema}}}}}
fixed = dict(model="groq/{model}", api_base="{base_url}", api_key="none", timeout=20, num_retries=0)
messages = [{{"role": "user", "content": "How warm is it in Oslo?"}}]
shaped = litellm.completion(messages=messages, response_format=schema, **fixed)
plain = litellm.completion(messages=messages, **fixed)
streamed = litellm.stream_chunk_builder(list(litellm.completion(messages=messages, stream=True, **fixed)))
texts = [each.choices[0].message.content for each in (shaped, plain, streamed)]
print(json.dumps(texts))
"""


@pytest.mark.exhaustive
def test_litellm_completes_on_groq(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = environment("litellm")
    profile = profiles.load("groq")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with simulated(profile) as url:
        code = LITELLM.format(schema=SCHEMA, model=profile.model, base_url=f"{url}/v1")
        shaped, plain, streamed = answered([str(environments.python_in(folder)), "-"], folder, code)
    assert is_weather(json.loads(shaped))
    assert plain
    assert plain == streamed
