from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from conformance.results import Level
from conformance.rules import BESIDE, NATIVE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import objects

_CLAIM = "tools.unsupported-types"
_REFUSED = {
    _CLAIM: {"kinds": ["web_search*"], "refusal": {"status": 400, "message": "tool type {kind} is not supported"}}
}
_SEARCH = {"type": "web_search_20260209", "name": "web_search"}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: bool(request.value.get("tools")),
    needs=(_CLAIM,),
    source=Source(
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview",
        "Anthropic-defined tools use versioned types",
    ),
    bad=[
        example("messages-plain", {"/0/request/tools/-": _SEARCH}, _REFUSED),
        example("responses-request", {"/0/request/tools/-": {"type": "web_search"}}, _REFUSED),
    ],
    good=[example("messages-plain", claims=_REFUSED), example("responses-request", claims=_REFUSED)],
    wires=NATIVE,
    reach=BESIDE,
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """A request declares no tool of a type that the provider is known to reject.

    Tools that a host runs itself, such as a web search, differ from host to host, and from version to version.
    To fix it, leave out the tool there, or declare a function and run it in the client.
    """
    unsupported = context.claim(_CLAIM)
    faults = []
    for position, at, kind in _types(request.value.get("tools")):
        if any([fnmatchcase(kind, pattern) for pattern in unsupported["kinds"]]):
            listed, values = ", ".join(unsupported["kinds"]), {"kind": kind, "position": position}
            message = f"expected no tool of the types {listed}, got {kind!r}"
            faults.append(Fault(message, ("tools", position, at), values=values, verdict=unsupported["refusal"]))
    return faults


def _types(tools: Any) -> Iterator[tuple[int, str, str]]:
    """Yield the types of tools, each with the position of the tool and the key; in Gemini, a key is the type."""
    for position, tool in objects(tools):
        if type(tool.get("type")) is str:
            yield position, "type", tool["type"]
        elif "name" not in tool:
            yield from [(position, key, key) for key in tool]
