import re
from typing import Final, NamedTuple

from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.history import ModelNames, model_names
from conformance.wire.values import as_object

_MODEL: Final = "/0/response/model"
_ASKED: Final = "/0/request/model"
_FAMILIES: Final = {
    "chatgpt": "gpt", "claude": "claude", "codestral": "mistral", "command": "command", "deepseek": "deepseek",
    "devstral": "mistral", "doubao": "doubao", "ernie": "ernie", "gemini": "gemini", "gemma": "gemma", "glm": "glm",
    "gpt": "gpt", "granite": "granite", "grok": "grok", "hermes": "hermes", "hunyuan": "hunyuan", "jamba": "jamba",
    "kimi": "kimi", "llama": "llama", "magistral": "mistral", "minimax": "minimax", "ministral": "mistral",
    "mistral": "mistral", "mixtral": "mistral", "nemotron": "nemotron", "nova": "nova", "phi": "phi", "qwen": "qwen",
    "qwq": "qwen", "sonar": "sonar",
}  # fmt: skip
"""The words in names of models that say which family it is."""
_SIZES: Final = frozenset(
    {"haiku", "large", "lite", "medium", "micro", "mini", "nano", "opus", "pro", "small", "sonnet", "tiny"}
)
_PARTS: Final = re.compile(r"[a-z]+|[0-9]+")


class _Name(NamedTuple):
    """What a name says of a model: its families, the numbers of its version, and its sizes."""

    families: frozenset[str]
    version: tuple[str, ...]
    sizes: frozenset[str]


def _may_be_compared(names: ModelNames, context: Context) -> bool:
    """Return whether both names say the family, and the request leaves no choice of models."""
    native = context.exchange.native
    body = as_object(context.exchange.request if native is None else native.request)
    if names.asked == names.value or body.get("models") or body.get("prompt"):
        return names.asked == names.value
    return bool(_read(names.asked).families and _read(names.value).families)


@rule(
    Level.SHOULD,
    on=model_names,
    harm=Harm.FORM,
    where=_may_be_compared,
    source=Source("https://github.com/agentgateway/agentgateway/issues/1361", "The client is not aware of the switch."),
    bad=[
        example("plain", {_ASKED: "gpt-5", _MODEL: "claude-sonnet-4-5"}),
        example("plain", {_ASKED: "gpt-4o", _MODEL: "gpt-4o-mini-2024-07-18"}),
        example("plain", {_ASKED: "gpt-5.4", _MODEL: "gpt-5.1-2025-11-13"}),
    ],
    good=[
        example("plain"),
        example("plain", {_ASKED: "gpt-4o", _MODEL: "gpt-4o-2024-08-06"}),
        example("plain", {_ASKED: "deepseek-chat", _MODEL: "deepseek-v4-flash"}),
        example("plain", {_ASKED: "anthropic/claude-sonnet-4", _MODEL: "claude-4-sonnet-20250522"}),
        example("messages-session"),
    ],
    wires=EVERY,
)
def judge(names: ModelNames, _context: Context) -> list[Fault]:
    """A reply comes from the model that the request asks for.

    Another model has other abilities, another price, and cannot read the signatures of the first. Names may differ:
    dates, prefixes, and an alias without a version are the same model, and a name without a known family is not judged.
    Another family is a MUST. To fix it, reject the request if the model is not served, and report the model that
    answers.
    """
    if names.asked == names.value:
        return []
    asked, got = _read(names.asked), _read(names.value)
    message = f"expected a reply of {names.asked!r:.60}, got one of {names.value!r:.60}"
    if asked.families.isdisjoint(got.families):
        return [Fault(message, level=Level.MUST)]
    return [Fault(message)] if _differ(asked, got) else []


def _read(name: str) -> _Name:
    # The vendor and the folder come before the name, the host that serves it after a colon.
    parts = _PARTS.findall(name.lower().rpartition("/")[2].partition(":")[0])
    families = frozenset([_FAMILIES[part] for part in parts if part in _FAMILIES])
    # Dates and revisions: 2024, 20241022, 0613, 08, 002.
    version = tuple([part for part in parts if part.isdigit() and len(part) < 4 and not part.startswith("0")])
    return _Name(families, version, _SIZES.intersection(parts))


def _differ(asked: _Name, got: _Name) -> bool:
    """Return whether two names of one family say another version or size; without a version, a name is an alias."""
    if not asked.version or not got.version:
        return False
    shared = min(len(asked.version), len(got.version))
    return asked.version[:shared] != got.version[:shared] or asked.sizes != got.sizes
