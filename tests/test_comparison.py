"""What a move from one provider to another costs: the order of differences, requests to change, the page's data."""

from itertools import permutations
from typing import Any

from conformance import profiles
from conformance.core_facts import DEFINITIONS
from conformance.documents import read_json
from conformance.profiles.difference import Consequence, differences
from conformance.reporting.comparison import ORDER, change_of, fragment, harm_of, ranked, unchanged
from conformance.reporting.matrix.table import Inputs, Table, table
from conformance.reporting.page.compare import compare_data
from conformance.resources import folder
from conformance.results.runs import Results

SOME = ("deepseek", "moonshot", "openrouter", "groq", "mistral", "openai.responses", "anthropic.messages")


def test_what_is_refused_comes_first_and_what_is_unknown_last() -> None:
    found = ranked(differences(profiles.load("openai"), profiles.load("deepseek")))
    kinds = [ORDER.index(each.difference.kind) for each in found]
    assert (sorted(kinds), Consequence.SEND) == (kinds, found[0].difference.kind)
    core = [name for each in DEFINITIONS for name in each.claims]
    sent = [each.difference.claim for each in found if each.difference.kind is Consequence.SEND]
    assert (True, ["reasoning.request-field", "reasoning.omitted-on-tool-turn"]) == (
        all(name not in core for name in sent[len([each for each in sent if each in core]) :]),
        sent[:2],
    )


def test_differences_in_replies_are_ranked_by_the_share_of_clients_that_broke() -> None:
    core = {name for each in DEFINITIONS for name in each.claims}
    found = ranked(differences(profiles.load("deepseek"), profiles.load("mistral")))
    read = [each for each in found if each.difference.kind is Consequence.READ and each.difference.claim not in core]
    shares = [each.harm.broken / (each.harm.measured or 1) for each in read]
    assert (sorted(shares, reverse=True), True) == (shares, shares[0] > 0)
    assert harm_of("finish.reasons").text.startswith("broke ")


def test_every_deviation_has_the_request_to_change_in_requests_yaml() -> None:
    """A claim with a verdict is about a request: `requests.yaml` says what has to change, or that nothing can."""
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    definitions = schema["$defs"]["claims"]["properties"]
    kinds = {name: each.get("$ref", "").rpartition("/")[2].removesuffix("-claim") for name, each in definitions.items()}
    deviations = {name for name, kind in kinds.items() if kind in profiles.REFUSING}
    said = {name for name in deviations if change_of(name, {"status": 400}).instead_of}
    assert (set(unchanged()), set()) == (deviations - said, said & set(unchanged()))


def test_a_parameter_is_shown_as_the_second_provider_takes_it() -> None:
    assert ("", '{"role": "assistant", "reasoning": "…", "tool_calls": […]}') == change_of(
        "reasoning.request-field", ["reasoning", "reasoning_content"]
    )
    assert ("", '{"thinking": {"type": "disabled"}}') == change_of("thinking.off", {"thinking": {"type": "disabled"}})
    assert ("", "no parameter") == change_of("thinking.on", {})
    assert ("", "") == change_of("thinking.off", "unknown")


def test_a_comparison_has_an_address_that_can_be_shared() -> None:
    assert "#/compare?pin=deepseek&pin=openai.responses" == fragment("deepseek", "openai.responses")


def test_the_page_says_of_each_pair_what_the_command_says() -> None:
    made = pairs()
    data: Any = compare_data(made)["compare"]
    numbers = {each.name: number for number, each in enumerate(made.subjects)}
    rows = [row.name.removeprefix("claims/") for row in made.rows]
    for first, second in permutations(SOME, 2):
        shown = {}
        for at, (row, kinds, *_) in enumerate(data["claims"]):
            before, after = (data["values"][str(numbers[name])][at] for name in (first, second))
            if kinds[before][after] != "-":
                shown[rows[row]] = ORDER[int(kinds[before][after])]
        said = {each.claim: each.kind for each in differences(profiles.load(first), profiles.load(second))}
        assert (first, second, said) == (first, second, shown)


def pairs() -> Table:
    loaded = {name: profiles.load(name) for name in SOME}
    results = [Results(name, profile.model, ()) for name, profile in loaded.items()]
    return table(Inputs(results, loaded))
