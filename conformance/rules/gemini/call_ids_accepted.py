from collections.abc import Iterator

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import as_object, objects

_CLAIM = "gemini.call-ids"
_REFUSED = {_CLAIM: {"status": 400, "message": "Unknown name \"{field}\" at 'contents[{index}].parts[{position}]'"}}
_CALL = "/0/request/contents/1/parts/0/functionCall/id"


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source(
        package="pypi/litellm@1.109.1:litellm/llms/vertex_ai/gemini/vertex_and_google_ai_studio_gemini.py#L689",
        quote="Older Gemini models reject the field with HTTP 400",
    ),
    bad=[example("gemini-result", {_CALL: "call_1"}, _REFUSED)],
    good=[example("gemini-result", claims=_REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("gemini",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """Calls and their responses have no ids if the model rejects them.

    Models before Gemini 3 pair a response with its call by name and position. To fix it, leave out `id` of
    `functionCall` and of `functionResponse` for these models.
    """
    return [
        Fault(f"expected no id in this {kind}, got one", at, values={"field": "id", "index": at[1], "position": at[3]})
        for kind, at in _ids(request)
    ]


def _ids(request: NativeBody) -> Iterator[tuple[str, Place]]:
    """Yield the kind and the place of each id."""
    for number, content in objects(request.value.get("contents")):
        for position, part in objects(content.get("parts")):
            for kind in ("functionCall", "functionResponse"):
                if as_object(part.get(kind)).get("id") is not None:
                    yield kind, ("contents", number, "parts", position, kind, "id")
