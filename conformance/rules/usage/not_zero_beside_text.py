from typing import Any, Final

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Reply, Usage
from conformance.wire.reasoning import carried_fields, reasoning_text
from conformance.wire.text import content_text
from conformance.wire.values import as_object
from conformance.wire.views import usages

_USAGE: Final = "/0/response/usage"
_NOTHING: Final = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

_MESSAGES: Final = {"prompt": "input_tokens", "completion": "output_tokens"}


def _is_beside_text(_usage: Usage, context: Context) -> bool:
    return any([_says_something(reply) for reply in context.replies])


@rule(
    Level.MUST,
    on=usages,
    where=_is_beside_text,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object", "Number of tokens in the generated completion."
    ),
    bad=[
        example("plain", {_USAGE: _NOTHING}),
        example("plain", {_USAGE: {**_NOTHING, "prompt_tokens": 20, "total_tokens": 20}}),
        example("tool-call", {_USAGE: {**_NOTHING, "completion_tokens": 10, "total_tokens": 10}}),
        example("stream-plain", {"/0/response/4/usage": _NOTHING}),
        example("messages-plain", {f"{_USAGE}/output_tokens": 0}),
    ],
    good=[example("plain"), example("stream-plain"), example("messages-stream")],
    wires=EVERY,
)
def judge(usage: Usage, context: Context) -> list[Fault]:
    """The token counts of a reply with text are not zero.

    Prices, budgets and the decision to shorten a history are based on them: with zeros, a client runs into the limit of
    the context unwarned. To fix it, report the counts of the engine, or no usage at all.
    """
    names = [name for name in ("prompt", "completion") if _is_zero(usage.value.get(f"{name}_tokens"))]
    if usage.request is None and "prompt" in names:
        names.remove("prompt")
    if context.exchange.protocol == "messages":
        # That a count is missing there is reported as the shape of the reply.
        given = as_object(_reply(context).get("usage"))
        names = [name for name in names if _MESSAGES[name] in given]
    if not names:
        return []
    at = () if len(names) > 1 else (f"{names[0]}_tokens",)
    return [Fault(f"expected the {' and '.join(names)} tokens of a reply with text, got 0", at=at)]


def _reply(context: Context) -> dict[str, Any]:
    native = context.exchange.native
    return (native.reply if native is not None else None) or {}


def _is_zero(count: Any) -> bool:
    return type(count) is int and count == 0


def _says_something(reply: Reply) -> bool:
    message = reply.message
    texts = [content_text(message.get("content")), *[reasoning_text(message, each) for each in carried_fields(message)]]
    return bool(reply.calls) or any([text.strip() for text in texts])
