"""Reports on a provider with several APIs: each stands for itself, and none is taken for another provider."""

from pathlib import Path

import orjson
import pytest

from conformance import profiles
from conformance.cli import main
from conformance.profiles import Profile
from conformance.reporting.answers import Meaning
from conformance.reporting.answers.changes import changes
from conformance.reporting.answers.wires import in_order, titles
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.own import named_profiles, read_own
from conformance.reporting.matrix.table import Table, table
from conformance.reporting.page.facts import FactRow, fact_tables, summary
from conformance.reporting.renderers import matrix_json, providers
from conformance.reporting.renderers.run_end import links
from conformance.results.files import write
from conformance.results.runs import Results
from conformance.schemas import validator
from tests import wired
from tests.wired import WIRES


@pytest.fixture(name="made")
def wired_table(tmp_path: Path) -> Table:
    return table(wired.inputs(tmp_path))


def rows(made: Table) -> dict[str, FactRow]:
    return {row.subject.name: row for facts in fact_tables(made) for row in facts.rows}


def test_the_wires_of_a_provider_stand_together_in_their_order(made: Table) -> None:
    shown = [(row.name, row.wire) for row in fact_tables(made)[0].rows]
    assert [("Lone", "gemini"), *[("Wired", wire) for wire in WIRES]] == shown
    assert ("chat", "gemini", "messages", "responses") == tuple(titles())
    assert ("chat", "gemini", "newer") == in_order(["newer", "gemini", "chat", "gemini"])


def test_a_row_of_an_adapter_names_the_provider_and_the_wire(made: Table) -> None:
    shown = {(row.name, row.on, row.wire) for row in fact_tables(made)[1].rows}
    assert {
        ("an-sdk@1.0", "wired", ""),
        ("an-sdk@1.0", "wired", "messages"),
        ("other-sdk@2.0", "lone", "gemini"),
    } == shown


def test_one_wire_needs_no_name(tmp_path: Path) -> None:
    given = wired.inputs(tmp_path)
    alone = [each for each in given.results if each.profile == "wired"]
    assert {""} == {row.wire for row in rows(table(wired.of(given, alone))).values()}


def test_each_wire_has_its_own_values_under_their_own_names(made: Table) -> None:
    shown = {wire: rows(made)[name].cells for wire, name in zip(WIRES, _names("wired"), strict=True)}
    assert ["reasoning_content", "thought parts", "thinking blocks", "reasoning items"] == [
        shown[wire][0].value for wire in WIRES
    ]
    assert {Meaning.WORKS} == {shown[wire][0].meaning for wire in WIRES}
    assert ["accepted", "unknown", "400", "damaged"] == [shown[wire][1].value for wire in WIRES]
    assert ["unique", "restart", "unique", "unique"] == [shown[wire][2].value for wire in WIRES]


def test_a_provider_counts_once(made: Table) -> None:
    assert "2 providers, 2 SDKs in 3 pairings" == summary(made)
    assert 2 == headline(made).providers


def test_what_holds_on_all_wires_changed_once(tmp_path: Path) -> None:
    found = [(each.provider, each.what, each.model) for each in changes(wired.profiles_of(tmp_path))]
    assert [("wired.messages", "reasoning.omitted-on-tool-turn", ""), ("wired", "model", "m-0")] == found


def test_the_page_of_a_provider_has_a_column_for_each_wire(made: Table) -> None:
    pages = providers.publish(made)
    assert {f"providers/{name}.md" for name in (*_names("wired"), "lone.gemini")} == pages.keys()
    head, _, *facts = pages["providers/wired.messages.md"].partition("## Core facts\n\n")[2].split("\n")[:6]
    linked = "[Chat completions](wired.md) | [Gemini](wired.gemini.md) | Anthropic Messages"
    assert f"|  | {linked} | [OpenAI Responses](wired.responses.md) |" == head
    omitted = ["**accepted**", "**unknown**", "**400**", "**damaged**"]
    assert [] == [word for word, cell in zip(omitted, facts[1].split("|")[2:6], strict=True) if word not in cell]
    lone = pages["providers/lone.gemini.md"]
    assert "|  | Gemini |" in lone


def test_the_json_names_provider_and_wire(made: Table) -> None:
    shown = orjson.loads(matrix_json.render(made))
    assert [] == list(validator("files/matrix").errors(shown))
    found = {each["name"]: (each["service"], each["wire"]) for each in shown["subjects"]}
    assert ("wired", "messages") == found["wired.messages"] == found["an-sdk@1.0/wired.messages"]


def test_a_run_leads_to_the_page_of_its_wire() -> None:
    (page,) = [link for link in links("deepseek.messages", None).values() if link.startswith("https://")]
    assert page.endswith("reports/providers/deepseek.messages.md")
    assert not [link for link in links("nobody.messages", None).values() if link.startswith("https://")]


def extending(folder: Path) -> Path:
    path = folder / "gateway.yaml"
    path.write_text("extends: deepseek\ntitle: Our gateway\nkind: gateway\nclaims: {}\n")
    return path


@pytest.mark.parametrize("wire", ["messages", "responses"])
def test_a_profile_of_ones_own_has_the_wires_of_its_base_under_its_own_name(tmp_path: Path, wire: str) -> None:
    profile = profiles.load_profile(extending(tmp_path)).on(wire)
    assert (f"gateway.{wire}", f"Our gateway ({wire})", "gateway") == (profile.name, profile.title, profile.service)
    assert profiles.load(f"deepseek.{wire}").at() == profile.at()


def test_results_of_ones_own_may_be_of_any_wire(tmp_path: Path) -> None:
    files = [extending(tmp_path)]
    known: dict[str, Profile] = dict(named_profiles(files))
    assert {"gateway", "gateway.messages", "gateway.responses"} == known.keys()
    given = [Results(name, "m", (wired.case("one-tool-call"),)) for name in known]
    for each in given:
        write(tmp_path / "mine", each)
    own = read_own(tmp_path / "mine", files)
    assert {f"{name} (mine)" for name in known} == {each.name for each in own.results}


@pytest.mark.slow
def test_only_ones_own_wires_are_reported_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = extending(tmp_path)
    for name in ("gateway", "gateway.messages"):
        write(tmp_path / "mine", Results(name, "m", (wired.case("one-tool-call"),)))
    out = ["--only", "mine", "--provider", str(profile), "--out", str(tmp_path / "report")]
    assert 0 == main(["report", "--results", str(tmp_path / "mine"), *out])
    page = (tmp_path / "report" / "mine.md").read_text("utf-8")
    assert "Our gateway (messages) (mine)" in page
    capsys.readouterr()
    paths = [str(tmp_path / "mine"), "--provider", str(profile)]
    assert 0 == main(["report", "statement", "make", *paths])
    stated = orjson.loads(capsys.readouterr().out)
    assert ["gateway", "gateway.messages"] == [each["name"] for each in stated["predicate"]["runs"]]


def _names(service: str) -> list[str]:
    return [service, *[f"{service}.{wire}" for wire in WIRES[1:]]]
