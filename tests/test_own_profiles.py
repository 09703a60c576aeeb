"""Profiles of one's own: by path, of an installed package, built on another one, checked and begun."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import load_profile, profiles, scenarios
from conformance.adapters import definition, runs
from conformance.adapters.driver import Driver
from conformance.adapters.job import job_of
from conformance.cli import main
from conformance.errors import InvalidDocument, UnknownName, Unusable
from conformance.profiles import files, installed, texts
from conformance.profiles.review import contradictions
from conformance.schemas import validator
from conformance.simulator.sessions import serving_sessions
from tests.loops import every
from tests.sampling import some

HEAD = "title: T\nkind: gateway\n"
ENTRY = "source: {inferred: s}, confidence: low"
EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "lost-reasoning.json"


def written(path: Path, text: str) -> Path:
    path.write_text(HEAD + text, "utf-8")
    return path


def claims(**named: Any) -> str:
    lines = [f"  {name.replace('__', '.')}: {{value: {json.dumps(value)}, {ENTRY}}}" for name, value in named.items()]
    return "\n".join(["claims:" if lines else "claims: {}", *lines, ""])


def ended(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def gateway(tmp_path: Path) -> Path:
    text = "extends: deepseek\n" + claims(stream__usage="finish-chunk", results__reversed="damaged")
    return written(tmp_path / "my-gateway.yaml", text)


def test_a_claim_of_ones_own_replaces_that_of_the_base_for_every_model(gateway: Path) -> None:
    own, base = load_profile(gateway), load_profile("deepseek")
    for model in ("", base.model, "another"):
        assert {**base.at(model), "stream.usage": "finish-chunk", "results.reversed": "damaged"} == own.at(model)


def test_each_claim_names_the_profile_that_makes_it(gateway: Path) -> None:
    written(gateway.parent / "outer.yaml", "extends: ./my-gateway.yaml\n" + claims(stream__done=False))
    profile = load_profile(gateway.parent / "outer.yaml")
    names = ("stream.done", "stream.usage", "reasoning.request-field")
    assert ["", "my-gateway", "deepseek"] == [getattr(profile.claim(name), "origin", None) for name in names]
    assert ("my-gateway", "deepseek") == profile.extends


def test_a_base_gives_its_model_and_keeps_its_address_and_key(gateway: Path) -> None:
    own, base = load_profile(gateway), load_profile("deepseek")
    assert (base.model, base.max_tokens, "", "", ()) == (own.model, own.max_tokens, own.base_url, own.key, own.hosts)


def test_claims_about_another_wire_replace_those_of_the_base_on_this_wire(tmp_path: Path) -> None:
    section = f"protocols: {{messages: {{claims: {{results.reversed: {{value: damaged, {ENTRY}}}}}}}}}\n"
    profile = load_profile(written(tmp_path / "mine.yaml", f"extends: anthropic\nclaims: {{}}\n{section}"))
    own, base = profile.on("messages"), load_profile("anthropic").on("messages")
    assert ("mine.messages", "messages", base.model) == (own.name, own.wire, own.model)
    assert {**base.at(base.model), "results.reversed": "damaged"} == own.at(base.model)


SHARED_AND_OWN = f"""\
claims: {{}}
models:
  m*:
    claims:
      thinking.mode: {{value: always, {ENTRY}}}
      tools.parallel: {{value: true, {ENTRY}}}
protocols:
  messages:
    claims: {{}}
    models:
      m*:
        claims:
          ids.format: {{value: toolu, {ENTRY}}}
          tools.parallel: {{value: false, {ENTRY}}}
"""


def test_a_model_keeps_its_shared_claims_on_a_wire_that_says_more_of_it(tmp_path: Path) -> None:
    on_wire = load_profile(written(tmp_path / "mine.yaml", SHARED_AND_OWN)).on("messages")
    assert {"thinking.mode": "always", "ids.format": "toolu", "tools.parallel": False} == on_wire.at("m1")


def test_a_claim_about_a_model_replaces_that_of_the_base_for_this_model(tmp_path: Path) -> None:
    model = load_profile("deepseek").model
    section = f"models: {{{model}: {{claims: {{stream.done: {{value: false, {ENTRY}}}}}}}}}\n"
    text = f"extends: deepseek\nclaims: {{}}\n{section}"
    profile = load_profile(written(tmp_path / "mine.yaml", text))
    assert (False, True) == (profile.at(model)["stream.done"], profile.at("another")["stream.done"])
    assert load_profile("deepseek").at(model)["reasoning.altered"] == profile.at(model)["reasoning.altered"]


BROKEN_BASES = [
    ("extends: depseek\n", "deepseek"),
    ("extends: ./nowhere.yaml\n", "there is no file"),
    ("extends: mine.yaml\n", "mine.yaml → mine.yaml"),
    ("extends: ./other.yaml\n", "mine.yaml → other.yaml → mine.yaml"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN_BASES)
def test_a_base_that_cannot_be_used_is_named_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "mine.yaml", text + "claims: {}\n")
    written(tmp_path / "other.yaml", "extends: mine.yaml\nclaims: {}\n")
    with pytest.raises(InvalidDocument, match=message) as raised:
        load_profile(path)
    assert (3, "/extends") == (raised.value.line, raised.value.pointer)


def test_an_error_in_a_base_names_the_file_of_the_base(tmp_path: Path) -> None:
    base = written(tmp_path / "base.yaml", "claims: {stream.done: 1}\n")
    path = written(tmp_path / "mine.yaml", "extends: base.yaml\nclaims: {}\n")
    with pytest.raises(InvalidDocument) as raised:
        load_profile(path)
    assert str(base) == raised.value.file


def test_a_file_with_the_name_of_a_shipped_profile_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "groq.yaml", claims())
    with pytest.raises(InvalidDocument, match=r"my-groq\.yaml.*extends: groq"):
        load_profile(path)
    assert load_profile("groq") is load_profile(Path(profiles.__file__).parent / "groq.yaml")


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.yaml", claims(stream__done=False))
    assert load_profile(path).at()["stream.done"] is False
    written(path, claims(stream__done=True))
    assert load_profile(path).at()["stream.done"] is True


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package with two profiles, of which one has the name of a shipped one."""
    folder = tmp_path / "acme_profiles"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('a package with profiles is never run')\n")
    written(folder / "acme.yaml", "extends: vllm\nhosts: [api.acme.example]\n" + claims(stream__done=False))
    written(folder / "groq.yaml", claims(stream__done=False))
    metadata = tmp_path / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    lines = ["acme = acme_profiles", "groq = acme_profiles", "absent = acme_profiles", "lost = no_such_package_here"]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{installed.GROUP}]", *lines, ""]))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    caches = (installed.providers, files.installed_names, files.load, texts.by_host)
    for each in caches:
        each.cache_clear()
    yield folder
    for each in caches:
        each.cache_clear()


def test_a_profile_of_an_installed_package_is_found_by_name_and_host(package: Path) -> None:
    assert load_profile("acme").at()["stream.done"] is False
    assert ("vllm",) == load_profile("acme").extends
    assert "acme" == texts.by_host("api.acme.example")
    assert ("absent", "acme", "lost") == profiles.installed_names()
    with pytest.raises(UnknownName, match="did you mean acme"):
        load_profile("acmee")


def test_a_shipped_name_means_the_shipped_profile(package: Path) -> None:
    assert "Groq" == load_profile("groq").title


@pytest.mark.parametrize(("name", "message"), [("absent", r"absent\.yaml"), ("lost", "cannot be found")])
def test_a_package_without_the_profile_that_it_offers_is_named(package: Path, name: str, message: str) -> None:
    with pytest.raises(Unusable, match=message):
        load_profile(name)


def test_an_adapter_runs_with_a_profile_that_extends_one_of_its_own(gateway: Path) -> None:
    reference = definition.load("reference")
    plan = runs.plan_for(reference, str(gateway), Driver(("true",), gateway.parent))
    assert ("my-gateway", load_profile("deepseek").model) == (plan.provider, plan.model)
    foreign = written(gateway.parent / "foreign.yaml", claims())
    with pytest.raises(UnknownName, match="provider of reference 'foreign'"):
        runs.plan_for(reference, str(foreign), Driver(("true",), gateway.parent))


def test_a_job_names_the_file_of_the_profile_and_the_provider_that_it_builds_on(gateway: Path) -> None:
    with serving_sessions() as server:
        job = job_of(server.open(scenarios.load("one-tool-call"), load_profile(gateway), "plain", "", strict=False))
    assert ("deepseek", str(gateway)) == (job["provider"], job["profile"])
    assert [] == list(validator("files/adapter-job").errors(job))


def test_verbs_take_the_path_of_a_profile(gateway: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ended(capsys, "check", "--provider", gateway, EXAMPLE)
    assert (1, True) == (code, "checked by the claims of my-gateway" in out)
    code, out, _ = ended(capsys, "prepare", "--provider", gateway, EXAMPLE)
    assert code in (0, 1)
    code, out, _ = ended(capsys, "explain", "claims", "--provider", gateway)
    assert "from deepseek" in out
    code, out, _ = ended(capsys, "explain", gateway)
    assert "extends deepseek\n" in out
    code, out, err = ended(capsys, "provider", "replay", "--provider", gateway)
    assert (2, True) == (code, "no cassettes of" in err)
    code, out, err = ended(capsys, "evidence", "calibrate", "--provider", gateway, "--format", "json", EXAMPLE)
    assert ["my-gateway"] == [each["provider"] for each in json.loads(out)["providers"]]
    code, _, err = ended(capsys, "evidence", "calibrate", "--provider", gateway)
    assert (2, True) == (code, "needs recordings" in err)


@pytest.mark.slow
def test_a_good_profile_passes_the_check_and_shows_where_its_claims_are_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "mine.yaml", "extends: groq\n" + claims(stream__done=True, stream__comments=True))
    code, out, _ = ended(capsys, "provider", "validate", path)
    assert (0, True) == (code, out.startswith("mine: "))
    assert "(2 of mine, " in out
    assert " of groq)" in out
    assert "note: stream.done: the claim changes nothing: groq makes it already\n0 problems\n" in out


def test_every_error_of_a_file_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path / "mine.yaml", f"claims:\n  ids.formt: {{value: a, {ENTRY}}}\n  stream.done: {{value: 3}}\n"
    )
    code, _, err = ended(capsys, "provider", "validate", path)
    assert 2 == code
    assert f"{path}:4: at /claims/ids.formt: unknown claim 'ids.formt'; did you mean ids.format" in err
    assert f"{path}:5: at /claims/stream.done" in err


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"thinking__mode": "never", "reasoning__omitted-on-tool-turn": {"status": 400}}, "cannot be refused"),
    ({"thinking__mode": "never", "thinking__on": {"think": True}}, "thinking.on is impossible"),
    ({"thinking__mode": "always", "thinking__off": {"think": False}}, "thinking.off is impossible"),
    ({"reasoning__request-field": "reasoning", "reasoning__input.reasoning": {"status": 400}}, "refuses"),
    ({"reasoning__request-field": "none", "reasoning__omitted-on-tool-turn": {"status": 400}}, "cannot be refused"),
    ({"reasoning__response-field": "none", "reasoning__details.types": ["a"]}, "lists what never occurs"),
    ({"finish__reasons": ["stop"], "finish__with-calls": "tool_calls"}, "tool_calls is not in finish.reasons"),
    ({"tools__choices": ["auto"], "tools__choices-obeyed": ["auto", "none"]}, "none is not in tools.choices"),
    ({"tools__supported": False, "tools__parallel": True}, "exclude each other"),
    ({"stream__done": False, "stream__after-done": True}, "exclude each other"),
]


@pytest.mark.parametrize(("given", "message"), CONTRADICTIONS)
def test_claims_that_exclude_each_other_are_a_problem(
    given: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = ended(capsys, "provider", "validate", written(tmp_path / "mine.yaml", claims(**given)))
    assert 1 == code
    assert message in out


@every("name", some(profiles.names(), 6))
def test_the_claims_of_a_shipped_profile_do_not_exclude_each_other(name: str) -> None:
    assert () == contradictions(load_profile(name))


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--extends", "vllm")])
def test_a_new_profile_passes_the_check(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    assert 0 == ended(capsys, "provider", "new", "mine", *options, "--out", path)[0]
    assert 0 == ended(capsys, "provider", "validate", path)[0]
    code, _, err = ended(capsys, "provider", "new", "mine", "--out", path)
    assert (2, True) == (code, "exists" in err)


def test_a_base_in_another_folder_is_found_from_the_new_file(
    gateway: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "deeper" / "mine.yaml"
    assert 0 == ended(capsys, "provider", "new", "mine", "--extends", gateway, "--out", path)[0]
    assert ("my-gateway", "deepseek") == load_profile(path).extends


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("deepseek",), "my-deepseek"), (("a/b",), "expected a name"), (("mine", "--extends", "depseek"), "did you mean")],
)
def test_a_new_profile_needs_a_name_and_a_base_that_can_be_used(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = ended(capsys, "provider", "new", *arguments)
    assert (2, True) == (code, message in err)


def test_the_last_day_of_a_profile_is_a_day_even_if_all_its_claims_are_of_its_base_or_of_one_wire() -> None:
    days = {name: profiles.load_profile(name).as_of for name in profiles.names()}
    assert {} == {name: day for name, day in days.items() if not "2024" < day < "2100"}
