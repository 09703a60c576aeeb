from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.plain import body_in_words
from conformance.wire.views import sent_bodies


@rule(
    Level.MUST,
    on=sent_bodies,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("plain", {"/0/request": []}),
        example("plain", {"/0/request": [{"role": "user", "content": "Hello"}]}),
        example("plain", {"/0/request": 5}),
    ],
    good=[example("plain"), example("messages-session"), example("responses-session"), example("gemini-session")],
    wires=EVERY,
)
def judge(body: Body, _context: Context) -> list[Fault]:
    """The body of a request is a JSON object.

    Servers reject anything else before they look at it. A list of messages that was sent without the object round it
    looks like that. To fix it, send the list as `messages`, beside `model`.
    """
    return [] if type(body.value) is dict else [Fault(f"expected a JSON object, got {body_in_words(body.value)}")]
