from conformance.results import Level
from conformance.rules import BESIDE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests

_ON = ("enabled", "adaptive")


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: _thinks(request) and request.value.get("temperature") is not None,
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/thinking",
        "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
    ),
    bad=[example("messages-plain", {"/0/request/temperature": 0.2})],
    good=[example("messages-plain", {"/0/request/temperature": 1})],
    claim="messages.temperature-while-thinking",
    wires=("messages",),
    reach=BESIDE,
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """While the model thinks, `temperature` is 1 or absent.

    To fix it, leave it out, or turn thinking off.
    """
    value = request.value["temperature"]
    return (
        [] if value == 1 else [Fault(f"expected a temperature of 1 while thinking, got {value}", at=("temperature",))]
    )


def _thinks(request: NativeBody) -> bool:
    thinking = request.value.get("thinking")
    return type(thinking) is dict and thinking.get("type") in _ON
