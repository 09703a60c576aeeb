"""Compatibility statements: made from results, valid by their schema, and proven or refused by who signed and what."""

import base64
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.resources import folder
from conformance.results import PUBLIC_RECORDINGS, TRAFFIC, Evidence, Level, Outcome, Status
from conformance.results.files import read, write
from conformance.results.runs import Case, Results
from conformance.schemas import validator
from tests.statements import SIMULATED, edited, envelope, key, published

ADAPTERS = folder("reports") / "results" / "adapters"
ADAPTER = next(ADAPTERS.glob("litellm@*.deepseek.json")).name.removesuffix(".deepseek.json")


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["report", "statement", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder with the results of an engine and of an adapter."""
    made = published(tmp_path / "results", "vllm")
    shutil.copy(ADAPTERS / f"{ADAPTER}.deepseek.json", made)
    return made


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a folder with few results."""
    return published(tmp_path / "small", SIMULATED)


@pytest.fixture
def made(results: Path, run: Run) -> Path:
    """Return the file of an unsigned statement about the results."""
    code, out, err = run("make", results, "--project", "Our <gateway>", "--url", "https://example.com")
    assert (0, "") == (code, err)
    path = results.parent / "statement.json"
    path.write_text(out)
    return path


def test_a_statement_holds_what_the_results_show(made: Path, results: Path) -> None:
    stated = json.loads(made.read_bytes())
    assert [] == list(validator("files/statement").errors(stated))
    digests = {path.name: {"sha256": sha256(path.read_bytes()).hexdigest()} for path in sorted(results.glob("*.json"))}
    assert digests == {each["name"]: each["digest"] for each in stated["subject"]}
    adapter, engine = stated["predicate"]["runs"]
    assert (f"{ADAPTER}/deepseek", "vllm") == (adapter["name"], engine["name"])
    assert ("vllm.json", ["engine"], True) == (engine["results"], engine["evidence"], engine["complete"])
    assert {"conforms"} == set(engine["core_facts"].values())
    assert adapter["fails"]
    assert len(adapter["fails"]) == adapter["checks"]["fails"]
    assert "core_facts" not in adapter
    assert adapter["command"].startswith(f"conformance adapter run {ADAPTER} --provider deepseek")


def test_an_unsigned_statement_is_consistent_and_not_proven(made: Path, results: Path, run: Run) -> None:
    code, out, err = run("verify", made, results)
    assert (1, "") == (code, err)
    first, *runs, last = out.splitlines()
    assert first.startswith("made on 20")
    assert first.endswith(", Our <gateway>, https://example.com, as it says itself")
    assert [f"{ADAPTER}/deepseek", "vllm"] == [line.partition(": as stated: ")[0] for line in runs]
    assert "unsigned: consistent, not proven" == last


def test_a_statement_is_proven_by_the_public_key_of_its_signer(tmp_path: Path, small: Path, run: Run) -> None:
    for kind in ("ed25519", "ecdsa"):
        ours = key(tmp_path, kind, kind)
        code, out, _ = run("make", small, "--key", ours.private)
        value = json.loads(out)
        assert (0, []) == (code, list(validator("files/envelope").errors(value)))
        (signature,) = value["signatures"]
        public = ours.signer.public_key
        # An envelope need not name the key.
        for keyid in (public.keyid, ""):
            (tmp_path / "statement.json").write_text(
                json.dumps({**value, "signatures": [{**signature, "keyid": keyid}]})
            )
            code, out, _ = run("verify", tmp_path / "statement.json", "--key", ours.public, small)
            words = f"verified: signed by {kind} key {ours.public}, key ID {public.keyid}, SHA-256 fingerprint "
            assert (0, True) == (code, words in out), out
        code, out, _ = run("verify", tmp_path / "statement.json", small)
        unproven = "signed with a key that --key does not name (key ID '', as it says itself): consistent, not proven"
        assert (1, unproven) == (code, out.splitlines()[-1])


def test_what_several_keys_signed_is_proven_by_all_of_them(tmp_path: Path, small: Path, run: Run) -> None:
    keys = [key(tmp_path, name) for name in ("a", "b")]
    payload = run("make", small)[1].encode()
    (tmp_path / "statement.json").write_text(json.dumps(envelope(payload, *keys)))
    named = [word for each in keys for word in ("--key", each.public)]
    assert 0 == run("verify", tmp_path / "statement.json", small, *named, *named[:2])[0]
    code, out, _ = run("verify", tmp_path / "statement.json", small, *named[:2])
    assert (1, True) == (code, "is not a signature of this content with one more of the keys" in out), out
    (tmp_path / "statement.json").write_text(json.dumps(envelope(payload, keys[0])))
    code, out, _ = run("verify", tmp_path / "statement.json", small, *named)
    assert (1, True) == (code, f"it has no signature by ed25519 key {keys[1].public}" in out), out


def test_a_statement_names_the_results_beside_it(tmp_path: Path, small: Path, run: Run) -> None:
    ours = key(tmp_path, "ours")
    (tmp_path / "statement.json").write_text(run("make", small, "--key", ours.private)[1])
    code, _, err = run("verify", tmp_path / "statement.json", "--key", ours.public)
    assert (2, True) == (code, f"{SIMULATED}.json does not exist; pass the RESULTS" in err), err
    shutil.copy(small / f"{SIMULATED}.json", tmp_path)
    assert 0 == run("verify", "--key", ours.public, tmp_path / "statement.json")[0]


def test_the_predicate_alone_is_that_of_the_statement(small: Path, run: Run) -> None:
    whole = json.loads(run("make", small)[1])
    assert whole["predicate"] == json.loads(run("make", small, "--predicate")[1])


def test_a_key_that_cannot_be_used_is_an_error_that_shows_nothing_of_it(tmp_path: Path, small: Path, run: Run) -> None:
    ours, rsa = key(tmp_path, "ours"), key(tmp_path, "rsa", "rsa")
    (tmp_path / "statement.json").write_text(run("make", small, "--key", ours.private)[1])
    (tmp_path / "empty").write_text("")
    (tmp_path / "both").write_bytes(ours.public.read_bytes() + rsa.public.read_bytes())
    given = {
        ("make", tmp_path / "ours.locked.pem"): "is encrypted; expected a private key without a password",
        ("make", ours.public): "has no private key that can sign; expected Ed25519",
        ("make", rsa.private): "is a key of rsa; expected Ed25519",
        ("make", tmp_path / "empty"): "has no private key",
        ("make", tmp_path / "none"): "cannot be read",
        ("verify", ours.private): "is a private key; pass the public one",
        ("verify", tmp_path / "both"): "has more than one key",
        ("verify", rsa.public): "is a key of rsa; expected Ed25519",
        ("verify", tmp_path / "empty"): "has no public key that can be used",
        ("verify", small / f"{SIMULATED}.json"): "has no public key that can be used",
        ("verify", tmp_path / "none"): "cannot be read",
    }
    for (action, path), words in given.items():
        first = [tmp_path / "statement.json"] if action == "verify" else []
        code, out, err = run(action, *first, small, "--key", path)
        assert (2, "", True) == (code, out, words in err), (action, path, err)
        assert "BEGIN" not in err


def test_what_is_not_installed_is_named_with_the_extra(
    tmp_path: Path, small: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = key(tmp_path, "ours")
    unsigned, signed, attested = (tmp_path / name for name in ("unsigned.json", "signed.json", "attested.json"))
    unsigned.write_text(run("make", small)[1])
    signed.write_text(run("make", small, "--key", ours.private)[1])
    attested.write_text('{"dsseEnvelope": {}}')
    for name in ("cryptography", "securesystemslib", "sigstore"):
        for module in [each for each in sys.modules if each.split(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("envelopes", "attestations"):
        monkeypatch.delitem(sys.modules, f"conformance.signing.{name}", raising=False)
        monkeypatch.delattr(f"conformance.signing.{name}", raising=False)
    extra = "is not installed: pip install 'wire-conformance[{}]'"
    for name, arguments in (
        ("sign", ("make", small, "--key", ours.private)),
        ("sign", ("verify", signed, "--key", ours.public, small)),
        ("attest", ("verify", attested, "--repo", "a/b", small)),
    ):
        code, out, err = run(*arguments)
        assert (2, "", True) == (code, out, extra.format(name) in err), err
    assert "unsigned: consistent, not proven" in run("verify", unsigned, small)[1]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            lambda v: v["runs"][0]["checks"].update(fails=0),
            f"{ADAPTER}/deepseek: checks.fails: stated 0, and the res",
        ),
        (
            lambda v: v["runs"][0]["fails"].clear(),
            "fails: the results show loop/truncated-reply-discarded, which",
        ),
        (
            lambda v: v["runs"][1]["core_facts"].pop("tool-call-ids"),
            "vllm: core_facts.tool-call-ids: stated nothing",
        ),
        (
            lambda v: v["runs"][1].update(evidence=["live"]),
            "vllm: evidence: live is stated, and the results do not show it",
        ),
        (lambda v: v["runs"][1]["versions"].update(vllm="9"), 'vllm: versions.vllm: stated "9"'),
        (lambda v: v["runs"][1]["run"].update(host="api.vllm.ai"), 'vllm: run.host: stated "api.vllm.ai"'),
        (lambda v: v["runs"][1].update(complete=False), "vllm: complete: stated false"),
        (lambda v: v["runs"].pop(), "vllm: not stated, but there are results of it"),
        (lambda v: v["runs"][1].update(name="groq"), "groq: stated, but there are no results of it"),
        (lambda v: v.update(date="2099-01-01"), "date: the statement was made on 2099-01-01, and today is"),
        (lambda v: v.update(partial=["x"]), 'partial: stated ["x"], and the results show nothing'),
    ],
)
def test_a_statement_that_says_something_else_is_refused_with_what_differs(
    made: Path, results: Path, run: Run, edit: Callable[[Any], object], words: str
) -> None:
    edited(made, lambda value: edit(value["predicate"]))
    code, out, _ = run("verify", made, results)
    assert (1, True) == (code, words in out), out
    assert "refused: " in out.splitlines()[-1]


def test_other_bytes_of_the_results_are_refused(made: Path, results: Path, run: Run) -> None:
    path = results / "vllm.json"
    path.write_text(path.read_text() + "\n")
    code, out, _ = run("verify", made, path, results / f"{ADAPTER}.deepseek.json")
    assert (1, 2) == (code, len(out.splitlines())), out
    assert "SHA-256.vllm.json: stated " in out


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda v: v["predicate"].pop("date"), "at /predicate"),
        (lambda v: v["predicate"]["runs"].append(v["predicate"]["runs"][0]), "expected each name once"),
        (lambda v: v["subject"][0]["digest"].update(sha256="1"), "at /subject/0/digest/sha256: "),
        (lambda v: v.update(more=1), "at (root): "),
    ],
)
def test_a_file_that_is_not_a_statement_is_an_error_with_a_pointer(
    made: Path, results: Path, run: Run, edit: Callable[[Any], object], words: str
) -> None:
    edited(made, edit)
    code, out, err = run("verify", made, results)
    assert (2, "", True) == (code, out, "statement.json" in err and words in err), err


def test_what_a_statement_names_is_safe_to_print(made: Path, results: Path, run: Run) -> None:
    edited(made, lambda value: value["predicate"]["runs"][0].update(name="\x1b[2J\n::error::no"))
    code, out, _ = run("verify", made, results)
    assert (1, False, False) == (code, "\x1b" in out, "\n::error" in out)
    payload = base64.b64encode(made.read_bytes()).decode()
    named = {"keyid": "\x1b[2J\n::error::no", "sig": "AAAA"}
    envelope = {"payload": payload, "payloadType": "application/vnd.in-toto+json", "signatures": [named]}
    made.write_text(json.dumps(envelope))
    for option in ((), ("--key", key(made.parent, "ours").public)):
        code, out, _ = run("verify", made, results, *option)
        assert (1, False, False) == (code, "\x1b" in out, "\n::error" in out)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["make", "nothing"], "nothing: cannot be read"),
        (["make", "."], "no results found"),
        (["make", "results", "--url", "javascript:x"], "--url javascript:x: expected an http or https URL"),
        (["verify", "gone.json", "results"], "gone.json: cannot be read"),
        (["verify", "gone.json", "results", "--repo", "https://github.com/a/b"], "expected OWNER/NAME"),
    ],
)
def test_an_unusable_call_says_what_to_do(
    results: Path, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(results.parent)
    code, _, err = run(*arguments)
    assert (2, True) == (code, words in err), err


@pytest.mark.parametrize(
    ("scenario", "command"),
    [
        ("one-tool-call", "pytest --provider=vllm --model 'a b' --live --base-url URL --results results"),
        (TRAFFIC, "conformance proxy --upstream URL --provider vllm --results results"),
        (PUBLIC_RECORDINGS, "pytest --provider=vllm --evidence recorded --results results"),
    ],
)
def test_the_command_repeats_what_was_done(tmp_path: Path, run: Run, scenario: str, command: str) -> None:
    passed = Outcome("stream/ends-with-done", Status.PASSED, Level.MUST, 1)
    write(tmp_path, Results("vllm", "a b", (Case(scenario, "stream", Evidence.LIVE, (passed,)),)))
    assert command == json.loads(run("make", tmp_path)[1])["predicate"]["runs"][0]["command"]


def test_results_that_checked_nothing_give_no_statement(tmp_path: Path, run: Run) -> None:
    whole = read(folder("reports") / "results" / "vllm.json")
    idle = tuple([replace(case, outcomes=(), probes=()) for case in whole.cases])
    for cases, words in ((idle, "nothing was checked, so there is nothing to state"), ((), "has no cases")):
        write(tmp_path, replace(whole, cases=cases))
        code, _, err = run("make", tmp_path)
        assert (2, True) == (code, words in err)
