"""The documents of vendors, as the package of a public test runner brings them, in an environment of its own."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance import artifacts, environments

GEMINI: Final = ["@google-ai/generativelanguage@4.1.0"]
RUNNER: Final = ["llm-comply==0.5.0", "jsonschema==4.25.1"]


@cache
def runner() -> Path:
    """Return the environment of the runner, which is installed if it is not."""
    place = environments.cached_path(artifacts.cache_root("documented"), "llm-comply", RUNNER)
    return environments.ensure(
        place, lambda to: environments.create_venv(to, [RUNNER], (), lambda _line: None), lambda _line: None
    )


@cache
def vendor_document(name: str) -> Any:
    """Return an OpenAPI document by the name of its file, such as openresponses."""
    (path,) = runner().glob(f"lib/python*/site-packages/llm_comply/specs/{name}.json")
    return json.loads(path.read_text("utf-8"))


@cache
def gemini_messages() -> Any:
    """Return the messages of generateContent by name, as the package of Google's own client brings them.

    Those of googleapis/googleapis, google/ai/generativelanguage/v1beta, are the same definitions.
    """
    place = environments.cached_path(artifacts.cache_root("documented"), "gemini", GEMINI)
    environments.ensure(place, lambda to: environments.npm_install(to, GEMINI, lambda _line: None), lambda _line: None)
    path = place / "node_modules" / "@google-ai" / "generativelanguage" / "build" / "protos" / "protos.json"
    found = json.loads(path.read_text("utf-8"))
    for name in ("google", "ai", "generativelanguage", "v1beta"):
        found = found["nested"][name]
    return found["nested"]
