"""Conformance suite and wire validator for OpenAI-compatible chat completions: tool calls, reasoning, streams.

The names in `__all__` are the public API, and semantic versioning covers exactly these. Each is imported when it is
first used, because the pytest plugin makes every pytest run of an environment import this package.

    >>> import conformance
    >>> request = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi", "timestamp": 1767225600}]}
    >>> for outcome in conformance.check(conformance.Exchange(request=request)):
    ...     for finding in outcome.findings:
    ...         print(finding.level, outcome.rule, finding.at)
    MUST request/no-local-only-fields /0/request/messages/0/timestamp
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Not imported at run time, because that takes longer than all the rest of this module.
    from typing import Any

    from conformance.convert import from_canonical as from_canonical
    from conformance.convert import parse_reply as parse_reply
    from conformance.convert import prepare as prepare
    from conformance.convert import to_canonical as to_canonical
    from conformance.judge import Session as Session
    from conformance.judge import check as check
    from conformance.profiles import load_profile as load_profile
    from conformance.results import Finding as Finding
    from conformance.results import Level as Level
    from conformance.results import Outcome as Outcome
    from conformance.results import Status as Status
    from conformance.wire.exchange import Conversation as Conversation
    from conformance.wire.exchange import Exchange as Exchange

    __version__: str

_MODULES = {
    "Conversation": "wire.exchange",
    "Exchange": "wire.exchange",
    "Finding": "results",
    "Level": "results",
    "Outcome": "results",
    "Session": "judge",
    "Status": "results",
    "check": "judge",
    "from_canonical": "convert",
    "load_profile": "profiles",
    "parse_reply": "convert",
    "prepare": "convert",
    "to_canonical": "convert",
}
"""The module that defines each public name."""

__all__ = [
    "Conversation", "Exchange", "Finding", "Level", "Outcome", "Session", "Status", "__version__", "check",
    "from_canonical", "load_profile", "parse_reply", "prepare", "to_canonical",
]  # fmt: skip


def __getattr__(name: str) -> "Any":
    """Import a public name on first use (PEP 562)."""
    if name == "__version__":
        value: Any = _version()
    elif name in _MODULES:
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    else:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("wire-conformance")
    except PackageNotFoundError:
        return "0+unknown"
