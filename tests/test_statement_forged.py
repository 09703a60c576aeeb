"""Forged statements: each is refused, with the reason, by the command that verifies them."""

import base64
import io
import json
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from conformance.cli import main
from tests.loops import every
from tests.statements import SIMULATED, Key, edited, envelope, key, published, relabel, resealed

NAME: Final = f"{SIMULATED}.json"
LIVE: Final = {"host": "api.example.com", "date": "2026-11-20"}
OTHER_EXCHANGES: Final = "0" * 64


def run(*arguments: object) -> tuple[int, str]:
    """Return the exit code of a command and all that it printed."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = main(["report", "statement", *map(str, arguments)])
        except SystemExit as ended:
            code = int(str(ended.code))
    return code, printed.getvalue()


class Made(NamedTuple):
    """A signed statement about results that were simulated, in files that a forger changes.

    `ours` signed it; `theirs` is the key of somebody else.
    """

    home: Path
    ours: Key
    theirs: Key

    @property
    def file(self) -> Path:
        """The file of the statement."""
        return self.home / "statement.json"

    @property
    def results(self) -> Path:
        """The results that it is about."""
        return self.home / "results" / NAME

    @property
    def value(self) -> Any:
        """What is in the file."""
        return json.loads(self.file.read_bytes())

    @property
    def payload(self) -> Any:
        """The statement in the envelope."""
        return json.loads(base64.b64decode(self.value["payload"]))

    def write(self, value: Any) -> None:
        """Replace what is in the file."""
        self.file.write_text(value if isinstance(value, str) else json.dumps(value))

    def sign_again(self, edit: Callable[[Any], object], *signers: Key, payload_type: str = "") -> None:
        """Edit the statement and sign it."""
        value = self.payload
        edit(value)
        more = {"kind": payload_type} if payload_type else {}
        self.write(envelope(json.dumps(value).encode(), *signers, **more))

    def make_again(self, edit: Callable[[Any], object], signer: Key, *options: str) -> None:
        """Edit the results, give them the digest of their new content, and make the statement about them."""
        resealed(self.results, edit)
        code, printed = run("make", self.results, "--key", signer.private, *options)
        assert 0 == code, printed
        # What --partial accepted is the last line, on standard error.
        self.write(printed[: printed.rindex("}") + 1])


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Made:
    home = tmp_path_factory.mktemp("signed")
    made = Made(home, key(home, "ours"), key(home, "theirs", "ecdsa"))
    published(home / "results", SIMULATED)
    made.make_again(lambda _: None, made.ours)
    code, printed = run("verify", made.file, "--key", made.ours.public, made.results.parent)
    assert (0, True) == (code, "verified: signed by ed25519 key" in printed), printed
    return made


def copied(signed: Made, where: Path) -> Made:
    shutil.copytree(signed.home, where)
    moved = [each._replace(private=where / each.private.name, public=where / each.public.name) for each in signed[1:]]
    return Made(where, *moved)


def passes(value: Any) -> None:
    value["predicate"]["runs"][0]["checks"].update(conforms=300, declared=0)


def relabelled(value: Any) -> None:
    value["predicate"]["runs"][0].update(evidence=["live"])


def half_relabelled(value: Any) -> None:
    for case in value["cases"]:
        case["evidence"] = "live"


def replace_payload(made: Made) -> None:
    """Edit the payload and keep its signature."""
    value = made.payload
    passes(value)
    made.write({**made.value, "payload": base64.b64encode(json.dumps(value).encode()).decode()})


def signature(made: Made, signer: Key) -> dict[str, str]:
    found: dict[str, str] = envelope(base64.b64decode(made.value["payload"]), signer)["signatures"][0]
    return found


def with_signatures(made: Made, *signatures: dict[str, str]) -> None:
    made.write({**made.value, "signatures": list(signatures)})


def twice(text: str, member: str) -> str:
    """Return a JSON text whose object begins with one more member."""
    return text.replace("{", f"{{{member},", 1)


def sign_duplicate(made: Made) -> None:
    text = twice(json.dumps(made.payload), '"predicateType":"https://wire-conformance.example/statement/v1"')
    made.write(envelope(text.encode(), made.ours))


def incomplete(value: Any) -> None:
    value["run"]["ended"] = "the run was interrupted"


def filtered(value: Any) -> None:
    value["run"]["selected"]["by"] = ["-k plain"]


def rerun(value: Any) -> None:
    """Change what a second run of the same tests would: its exchanges and its day."""
    value["run"].update(date="2026-11-22", exchanges=OTHER_EXCHANGES)


def add_results(made: Made) -> None:
    shutil.copy(published(made.home / "more", "groq") / "groq.json", made.results.parent)


def swap_results(made: Made) -> None:
    made.results.unlink()
    add_results(made)


def without_a_case(value: Any) -> None:
    """Remove a case and count the others, as whoever hides a failure would."""
    value["cases"].pop(0)
    for row in value["passed"].values():
        row["judged"].pop(0)
    value["run"]["selected"].update(cases=len(value["cases"]), of_cases=len(value["cases"]))


def one_relabelled(value: Any) -> None:
    value["cases"][0]["evidence"] = "live"
    value["run"].update(LIVE, evidence=["live", "simulated"])


def signed_bare(made: Made) -> str:
    """Return a signature of the payload alone, as it is made for files."""
    bare = made.ours.signer.sign(base64.b64decode(made.value["payload"]))
    return base64.b64encode(bytes.fromhex(bare.signature)).decode()


def no_cases(value: Any) -> None:
    value.update(cases=[], passed={})


def state_as_edited(made: Made) -> None:
    edited(made.results, lambda value: value.update(digest="0" * 64))
    printed = run("make", made.results, "--partial", "--key", made.ours.private)[1]
    made.write(printed.rpartition("partial:")[0])


Forgery = Callable[[Made], object]

FORGERIES: Final[dict[str, tuple[Forgery, int, str]]] = {
    # What was done, the exit code, and words of the reason.
    "predicate edited, signature kept": (replace_payload, 1, "is not a signature of this content"),
    "predicate edited, signed with another key": (
        lambda made: made.sign_again(passes, made.theirs),
        1,
        "is not a signature of this content with",
    ),
    "predicate edited by the signer": (
        lambda made: made.sign_again(passes, made.ours),
        1,
        f"{SIMULATED}: checks.conforms: stated 300",
    ),
    "signatures removed": (with_signatures, 1, "it has no signatures, and --key requires one"),
    "envelope removed": (lambda made: made.write(made.payload), 1, "it is unsigned, and --key requires a signature"),
    "a wrong signature added": (
        lambda made: with_signatures(made, signature(made, made.ours), {"keyid": "ab", "sig": "AAAA"}),
        1,
        "the signature that names key ID 'ab' is not a signature of this content with one more of the keys",
    ),
    "a wrong signature before the right one": (
        lambda made: with_signatures(made, {"keyid": "", "sig": "AAAA"}, signature(made, made.ours)),
        1,
        "the signature that names key ID '' is not a signature",
    ),
    "a signature of somebody else added": (
        lambda made: with_signatures(made, signature(made, made.ours), signature(made, made.theirs)),
        1,
        "with one more of the keys",
    ),
    "a signature repeated": (
        lambda made: with_signatures(made, *[signature(made, made.ours)] * 2),
        1,
        "Multiple signatures found for keyid",
    ),
    "a signature repeated without its key ID": (
        lambda made: with_signatures(made, signature(made, made.ours), {**signature(made, made.ours), "keyid": ""}),
        1,
        "with one more of the keys",
    ),
    "a signature that is not Base64": (
        lambda made: with_signatures(made, {"keyid": "", "sig": "!"}),
        1,
        "it cannot be verified: Only base64 data is allowed",
    ),
    "a signature cut short": (
        lambda made: with_signatures(made, {"keyid": "", "sig": signature(made, made.ours)["sig"][:40]}),
        1,
        "is not a signature of this content",
    ),
    "another type of payload": (
        lambda made: made.write({**made.value, "payloadType": "application/json"}),
        1,
        "its payload is of the type 'application/json'",
    ),
    "another type of payload, signed": (
        lambda made: made.sign_again(lambda _: None, made.ours, payload_type="application/json"),
        1,
        "its payload is of the type 'application/json'",
    ),
    "a signature of another type of payload": (
        lambda made: with_signatures(
            made, *envelope(base64.b64decode(made.value["payload"]), made.ours, kind="text/plain")["signatures"]
        ),
        1,
        "is not a signature of this content",
    ),
    "another predicate": (
        lambda made: made.sign_again(
            lambda value: value.update(predicateType="https://slsa.dev/provenance/v1"), made.ours
        ),
        2,
        "at /predicateType",
    ),
    "another version of in-toto": (
        lambda made: made.sign_again(lambda value: value.update(_type="https://in-toto.io/Statement/v0.1"), made.ours),
        2,
        "at /_type",
    ),
    "key ID of another key": (
        lambda made: with_signatures(
            made, {**signature(made, made.ours), "keyid": made.theirs.signer.public_key.keyid}
        ),
        1,
        "but is by ed25519 key",
    ),
    "key ID of ours on a signature of theirs": (
        lambda made: with_signatures(
            made, {**signature(made, made.theirs), "keyid": made.ours.signer.public_key.keyid}
        ),
        1,
        "is not a signature of this content",
    ),
    "evidence relabelled": (
        lambda made: made.sign_again(relabelled, made.ours),
        1,
        "evidence: live is stated, and the results do not show it",
    ),
    "evidence relabelled in the results": (
        lambda made: edited(made.results, relabel),
        2,
        "was edited: its content does not have the digest that it names",
    ),
    "evidence relabelled in the results, with their digest": (
        lambda made: resealed(made.results, lambda value: relabel(value, **LIVE)),
        1,
        f"SHA-256.{NAME}: stated",
    ),
    "evidence of the cases relabelled by the signer": (
        lambda made: made.make_again(half_relabelled, made.ours, "--partial"),
        2,
        "was edited: its run has simulated evidence, and its cases have live",
    ),
    "evidence relabelled by the signer": (
        lambda made: made.make_again(relabel, made.ours),
        1,
        "has live evidence, and its run has no host: no live run leaves that out",
    ),
    "evidence relabelled by the signer, with a host": (
        lambda made: made.make_again(lambda value: relabel(value, **LIVE), made.ours),
        1,
        f"has live evidence, and its exchanges are those of {SIMULATED}, whose evidence is simulated",
    ),
    "results edited": (
        lambda made: edited(made.results, lambda value: value.update(model="better")),
        2,
        "was edited: its content does not have the digest that it names",
    ),
    "results edited, with their digest": (
        lambda made: resealed(made.results, lambda value: value.update(model="better")),
        1,
        f'{SIMULATED}: model: stated "',
    ),
    "results incomplete": (
        lambda made: resealed(made.results, incomplete),
        2,
        "is incomplete: the run was interrupted",
    ),
    "results of a part of the tests": (lambda made: resealed(made.results, filtered), 2, "is of a part of the tests"),
    "results of a part of the tests, by the signer": (
        lambda made: made.make_again(filtered, made.ours, "--partial"),
        2,
        "is of a part of the tests",
    ),
    "results of another provider": (swap_results, 1, f"{SIMULATED}: stated, but there are no results of it"),
    "results of another provider under the name of these": (
        lambda made: shutil.copy(published(made.home / "more", "groq") / "groq.json", made.results),
        2,
        f"is of groq, and not of {SIMULATED}, as its name says",
    ),
    "results left out of the statement": (add_results, 1, "groq: not stated, but there are results of it"),
    "results of another run": (lambda made: resealed(made.results, rerun), 1, f"SHA-256.{NAME}: stated"),
    "results with a space more": (
        lambda made: made.results.write_bytes(made.results.read_bytes() + b" "),
        1,
        f"SHA-256.{NAME}: stated",
    ),
    "results without cases": (lambda made: resealed(made.results, no_cases), 2, "has no cases"),
    "results emptied": (lambda made: made.results.write_bytes(b""), 2, "expected JSON, got an empty text"),
    "results removed": (lambda made: made.results.unlink(), 2, "no results found"),
    "a statement about nothing": (
        lambda made: made.sign_again(lambda value: value.update(subject=[]), made.ours),
        2,
        "at /subject",
    ),
    "a subject outside the folder": (
        lambda made: made.sign_again(lambda value: value["subject"][0].update(name="../x.json"), made.ours),
        2,
        "at /subject/0/name",
    ),
    "a second subject": (
        lambda made: made.sign_again(
            lambda value: value["subject"].append({"name": "x.json", "digest": {"sha256": "0" * 64}}), made.ours
        ),
        1,
        "SHA-256.x.json: stated",
    ),
    "a subject twice": (
        lambda made: made.sign_again(lambda value: value["subject"].append(value["subject"][0]), made.ours),
        2,
        "expected each name once",
    ),
    "a key twice in the envelope": (
        lambda made: made.write(twice(json.dumps(made.value), '"payload":"e30="')),
        2,
        "payload",
    ),
    "a key twice in the signed payload": (sign_duplicate, 2, "predicateType"),
    "a failing case removed by the signer": (
        lambda made: made.make_again(without_a_case, made.ours),
        1,
        "is said to be of a whole run, and has no case across-turns-",
    ),
    "one case relabelled by the signer": (
        lambda made: made.make_again(one_relabelled, made.ours),
        1,
        f"has live, simulated evidence, and its exchanges are those of {SIMULATED}, whose evidence is simulated",
    ),
    "a contradiction removed from the results": (
        lambda made: made.sign_again(lambda value: value["predicate"]["runs"][0].update(problems=["x"]), made.ours),
        1,
        f'{SIMULATED}: problems: stated ["x"], and the results show nothing',
    ),
    "evidence stated twice": (
        lambda made: made.sign_again(
            lambda value: value["predicate"]["runs"][0].update(evidence=["simulated"] * 2), made.ours
        ),
        1,
        "evidence: stated in another order or number than the results show",
    ),
    "a member more": (
        lambda made: made.sign_again(lambda value: value["predicate"].update(certified=True), made.ours),
        2,
        "at /predicate",
    ),
    "a byte order mark": (
        lambda made: made.write(envelope(b"\xef\xbb\xbf" + json.dumps(made.payload).encode(), made.ours)),
        2,
        "byte order mark",
    ),
    "a payload in another encoding": (
        lambda made: made.write(envelope(json.dumps(made.payload).encode("utf-16"), made.ours)),
        2,
        "which is not UTF-8",
    ),
    "a payload nested too deep": (
        lambda made: made.write(envelope(b"[" * 100_000, made.ours)),
        2,
        "statement.json",
    ),
    "signed for another protocol": (
        lambda made: with_signatures(made, {"keyid": "", "sig": signed_bare(made)}),
        1,
        "is not a signature of this content",
    ),
    "an array of signatures that is an object": (
        lambda made: made.write({**made.value, "signatures": {"0": made.value["signatures"][0]}}),
        2,
        "at /signatures",
    ),
    "made tomorrow": (
        lambda made: made.sign_again(lambda value: value["predicate"].update(date="2099-01-01"), made.ours),
        1,
        "date: the statement was made on 2099-01-01, and today is",
    ),
    "made before the replies came": (
        lambda made: made.sign_again(lambda value: value["predicate"].update(date="2026-01-01"), made.ours),
        1,
        "after the statement of 2026-01-01",
    ),
    "attested by nobody": (
        lambda made: made.write({"dsseEnvelope": made.value, "verificationMaterial": {}, "mediaType": "x"}),
        1,
        "--key requires a signature with that key",
    ),
    "another document": (lambda made: made.write([made.value]), 2, "expected a statement, a signed envelope or an att"),
}
"""What a forger does to the statement and its results, whether or not he has the key."""


@every(("forgery", "code", "words"), FORGERIES.values(), FORGERIES.keys())
def test_a_forged_statement_is_refused_with_the_reason(
    tmp_path: Path, signed: Made, forgery: Forgery, code: int, words: str
) -> None:
    made = copied(signed, tmp_path / str(len(list(tmp_path.iterdir()))))
    forgery(made)
    got, printed = run("verify", made.file, "--key", made.ours.public, made.results.parent)
    assert (code, True) == (got, words in " ".join(printed.split())), printed
    assert "verified: signed" not in printed
    assert "as stated" not in printed


PARTIAL: Final[dict[str, tuple[Forgery, int, str]]] = {
    "filtered, and stated as whole": (
        lambda made: resealed(made.results, filtered),
        1,
        "partial: stated nothing, and the results show",
    ),
    "filtered, and stated as such": (
        lambda made: made.make_again(filtered, made.ours, "--partial"),
        0,
        "verified: signed by ed25519 key",
    ),
    "incomplete, and stated as such": (
        lambda made: made.make_again(incomplete, made.ours, "--partial"),
        1,
        f"{NAME} is incomplete: the run was interrupted",
    ),
    "edited, and stated as such": (
        state_as_edited,
        1,
        f"{NAME} was edited: its content does not have the digest that it names",
    ),
    "relabelled, and stated as such": (
        lambda made: made.make_again(half_relabelled, made.ours, "--partial"),
        1,
        f"{NAME} was edited: its run has simulated evidence, and its cases have live",
    ),
}
"""What --partial accepts when a statement is made; the exit code and words of the same option when it is verified."""


@every(("forgery", "code", "words"), PARTIAL.values(), PARTIAL.keys())
def test_partial_accepts_only_a_part_of_the_tests_that_is_stated(
    tmp_path: Path, signed: Made, forgery: Forgery, code: int, words: str
) -> None:
    made = copied(signed, tmp_path / str(len(list(tmp_path.iterdir()))))
    forgery(made)
    got, printed = run("verify", made.file, "--partial", "--key", made.ours.public, made.results)
    assert (code, True) == (got, words in " ".join(printed.split())), printed


def test_evidence_of_any_kind_cannot_be_had_by_relabelling_what_this_project_simulated(
    tmp_path: Path, signed: Made
) -> None:
    for kind in ("live", "recorded", "engine"):
        made = copied(signed, tmp_path / kind)
        made.make_again(lambda value, kind=kind: relabel(value, kind, **LIVE), made.ours)  # type: ignore[misc]
        words = f"has {kind} evidence, and its exchanges are those of {SIMULATED}, whose evidence is simulated"
        code, printed = run("verify", made.file, "--key", made.ours.public, made.results)
        assert (1, True) == (code, words in printed), printed
