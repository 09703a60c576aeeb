from conformance.results import Harm, Level
from conformance.rules import NATIVE, Context, Fault, Source, example, native_keys, rule
from conformance.schemas import validator
from conformance.wire.native_views import NativeBody, requests

_REFUSED = {"status": 400, "message": "{path}.{field}: Extra inputs are not permitted"}
_STRICT = dict.fromkeys(native_keys.CLAIMS, _REFUSED)
_TOOL = "/0/request/tools/0"


@rule(
    Level.SHOULD,
    on=requests,
    harm=Harm.FORM,
    when=lambda claimed: any([claimed.rejects_or_damages(each) for each in native_keys.CLAIMS]),
    source=Source(
        "https://github.com/anthropics/claude-code/issues/4378",
        "messages.65.content.1.tool_use.text: Extra inputs are not permitted",
    ),
    bad=[
        example("messages-result", {"/0/request/reasoning_effort": "high"}, _STRICT),
        example("messages-result", {"/0/request/messages/2/content/0/name": "f"}, _STRICT),
        example("messages-result", {f"{_TOOL}/parameters": {}}, _STRICT),
        example("responses-request", {"/0/request/max_tokens": 5}, _STRICT),
        example("gemini-result", {"/0/request/contents/0/content": "Hi"}, _STRICT),
        example("gemini-result", {"/0/request/contents/0/parts/0/type": "text"}, _STRICT),
        example("gemini-result", {"/0/request/contents/2/parts/0/functionResponse/content": "Hi"}, _STRICT),
        example("gemini-result", {"/0/request/generationConfig": {"max_tokens": 5}}, _STRICT),
    ],
    good=[
        example("messages-result", claims=_STRICT),
        example("responses-request", claims=_STRICT),
        example("gemini-result", claims=_STRICT),
        example("messages-result", {"/0/request/reasoning_effort": "high"}, {native_keys.MESSAGE: _REFUSED}),
        example("gemini-result", {"/0/request/generation_config": {"max_output_tokens": 5}}, _STRICT),
        example("messages-result", {f"{_TOOL}/input_schema/x-order": 1}, _STRICT),
    ],
    reads=native_keys.CLAIMS,
    wires=NATIVE,
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """A request on another wire has only known names if the provider rejects others.

    They are the parameters, the members of parts and blocks by their type, of tools, and of Gemini's settings, as the
    wire's vendor documents them; other rules cover messages of Anthropic and items of OpenAI. To fix it, leave the key
    out, or write it as the schema `schemas/wires/WIRE/names.json` has it.
    """
    if native_keys.is_valid(request, context, "names"):
        return []
    names = validator(f"wires/{request.native.protocol}/names")
    faults = [
        native_keys.fault(request, error.place, key) for error in names.errors(request.value) for key in error.extra
    ]
    return [fault for fault in faults if context.rejects_or_damages(str(fault.claim))]
