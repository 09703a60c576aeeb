"""The list of what is not known of famous models, and recordings that cannot be the host's own."""

from conformance import profiles
from conformance.evidence import index
from conformance.profiles import UNKNOWN
from conformance.reporting.asked.words import understood
from conformance.reporting.renderers.worklist import render
from conformance.reporting.worklist import FAMOUS, OpenQuestion, open_questions


def test_each_open_question_is_unknown_and_names_its_model() -> None:
    for each in open_questions():
        service, _, wire = each.provider.partition(".")
        claims = profiles.load(service).on(wire or "chat").at(each.model)
        assert UNKNOWN == claims[each.claim]


def test_the_famous_models_are_served() -> None:
    for name, wire, model in FAMOUS:
        assert profiles.load(name).on(wire).is_served(model), (name, model)


def test_a_question_is_a_line_with_its_day_and_its_request() -> None:
    asked = OpenQuestion(
        "moonshot",
        "kimi-k3",
        "results.reversed",
        "2026-11-20",
        depends=False,
        scenario="a-scenario",
        request="Reversed.",
    )
    page = "".join(render((asked, asked._replace(depends=True, scenario="", request=""))))
    assert (
        "## kimi-k3 at moonshot\n\n2 facts\n\n```sh\n"
        "pytest --provider=moonshot --model=kimi-k3 --live --only-unknown --results=results\n"
        'conformance prepare --ask "moonshot, kimi-k3, tools, thinking on"\n```\n\n'
        "- `results.reversed`: nothing was found on 2026-11-20. It is settled by: Reversed.\n"
        "- `results.reversed`: it depends on who replies. Any reply with tool calls shows it.\n"
    ) in page
    native = "".join(render((asked._replace(provider="anthropic.messages"),)))
    assert "pytest --provider=anthropic --protocol=messages --model=kimi-k3 --live --only-unknown" in native


def test_what_is_asked_of_each_famous_model_can_be_prepared() -> None:
    for name, wire, model in FAMOUS:
        asked = understood(f"{name}{'' if wire == 'chat' else f', {wire}'}, {model}, tools, thinking on")
        assert (name, wire, model) == (asked.profile.service, asked.profile.wire, asked.profile.model)


def test_an_edited_recording_is_kept_with_its_reason_and_confirms_nothing() -> None:
    edited = [each for each in index.load() if each.fixture.startswith("edited (")]
    assert {"517a1de7779b", "6edfe68c533e"} <= {each.digest for each in edited}
    assert all(each.is_altered("reply.id-format") and not each.is_partial for each in edited)
