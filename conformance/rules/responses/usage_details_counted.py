from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import as_object

_DETAILS = {"input_tokens_details": "cached_tokens", "output_tokens_details": "reasoning_tokens"}
_USAGE = "/0/response/usage"


@rule(
    Level.MUST,
    on=replies,
    harm=Harm.FORM,
    where=lambda reply, _context: type(reply.value.get("usage")) is dict,
    source=Source("https://github.com/NVIDIA-NeMo/Gym/issues/3313", "invalid type: null, expected i64"),
    bad=[
        example("responses-session", {f"{_USAGE}/input_tokens_details": {"cached_tokens": None}}),
        example("responses-session", {f"{_USAGE}/output_tokens_details": REMOVE}),
    ],
    good=[example("responses-session"), example("responses-stream")],
    wires=("responses",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """The usage counts the cached and the reasoning tokens, too.

    Codex ends a turn that was answered if a counter is null; some clients, such as Grok Build, do so if it is missing.
    To fix it, write 0 where nothing is counted.
    """
    usage = reply.value["usage"]
    return [
        Fault(
            f"expected a number as {counter}, got {as_object(usage.get(key)).get(counter)!r}",
            at=("usage", key) if key in usage else ("usage",),
            level=Level.MUST if counter in as_object(usage.get(key)) else Level.SHOULD,
        )
        for key, counter in _DETAILS.items()
        if type(as_object(usage.get(key)).get(counter)) is not int
    ]
