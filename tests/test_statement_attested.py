"""Statements that a workflow attested: proven by the real verifier, against a Sigstore instance of the test's own."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from sigstore.verify import Verifier

from tests.sigstore_instance import REPOSITORY, WORKFLOW, Instance
from tests.statements import SIMULATED, key, published
from tests.test_statement_forged import run

pytestmark = pytest.mark.slow


class Attested(NamedTuple):
    """An instance that everybody trusts, results, and the unsigned statement about them."""

    instance: Instance
    results: Path
    payload: bytes

    def verify(self, bundle: Any, *options: object) -> tuple[int, str]:
        file = self.results.parent / "attestation.json"
        file.write_text(json.dumps(bundle))
        return run("verify", file, self.results, *options)


@pytest.fixture
def attested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attested:
    instance = Instance()
    monkeypatch.setattr(Verifier, "production", lambda **_: instance.verifier())
    results = published(tmp_path / "results", SIMULATED)
    return Attested(instance, results, run("make", results)[1].encode())


def test_an_attested_statement_is_proven_by_the_repository(attested: Attested) -> None:
    bundle = attested.instance.bundle(attested.payload)
    whose = (
        f"GitHub Actions workflow {WORKFLOW} for https://github.com/{REPOSITORY}, commit {'0' * 40}, started by push"
    )
    for named in (REPOSITORY, REPOSITORY.upper()):
        code, printed = attested.verify(bundle, "--repo", named)
        assert (0, f"verified: signed by {whose}") == (code, printed.splitlines()[-1][: len(whose) + 20]), printed
    code, printed = attested.verify(bundle)
    words = f"attested by a workflow that --repo does not name: consistent, not proven; {whose}"
    assert (1, words) == (code, printed.splitlines()[-1][: len(words)]), printed


def other_payload(made: Attested, bundle: Any) -> None:
    payload = made.payload.replace(b'"conforms": 0', b'"conforms": 9')
    bundle["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode()


def other_log(made: Attested, bundle: Any) -> None:
    bundle["verificationMaterial"]["tlogEntries"] = made.instance.bundle(b"{}")["verificationMaterial"]["tlogEntries"]


def other_instance(made: Attested, bundle: Any) -> None:
    bundle.update(Instance().bundle(made.payload))


def other_certificate(made: Attested, bundle: Any) -> None:
    other = made.instance.bundle(made.payload)["verificationMaterial"]
    bundle["verificationMaterial"]["certificate"] = other["certificate"]


def other_results(made: Attested, bundle: Any) -> None:
    path = made.results / f"{SIMULATED}.json"
    path.write_bytes(path.read_bytes() + b" ")


def attested_with(**what: Any) -> Callable[[Attested, Any], None]:
    return lambda made, bundle: bundle.update(made.instance.bundle(what.pop("payload", made.payload), **what))


FORGERIES: Final[dict[str, tuple[Callable[[Attested, Any], None], int, str]]] = {
    "another payload": (other_payload, 1, "cannot be verified with the root of Sigstore's public instance: "),
    "another entry of the log": (other_log, 1, "does not match bundle"),
    "another Sigstore": (other_instance, 1, "failed to build timestamp certificate chain"),
    "another certificate": (other_certificate, 1, "invalid signature"),
    "other results": (other_results, 1, f"SHA-256.{SIMULATED}.json: stated"),
    "another issuer": (attested_with(issuer="https://evil.example"), 1, "OIDCIssuerV2 does not match"),
    "a reusable workflow of others": (
        attested_with(workflow="https://github.com/evil/flows/.github/workflows/x.yml@main"),
        1,
        "and is of another repository",
    ),
    "another type of payload": (attested_with(kind="text/plain"), 1, "its payload is of the type 'text/plain'"),
    "another document": (attested_with(payload=b'{"_type": "https://in-toto.io/Statement/v1"}'), 2, "at (root)"),
    "no log": (lambda _, bundle: bundle["verificationMaterial"].update(tlogEntries=[]), 1, "cannot be verified"),
    "no certificate": (lambda _, bundle: bundle["verificationMaterial"].pop("certificate"), 1, "cannot be verified"),
    "no signature": (lambda _, bundle: bundle["dsseEnvelope"].update(signatures=[]), 1, "cannot be verified"),
    "no envelope": (lambda _, bundle: bundle.update(dsseEnvelope=None), 1, "cannot be verified"),
    "half a certificate": (
        lambda _, bundle: bundle["verificationMaterial"].update(certificate={"rawBytes": "MIIB"}),
        1,
        "cannot be verified",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_attestation_is_refused_with_the_reason(attested: Attested, name: str) -> None:
    forgery, code, words = FORGERIES[name]
    bundle = attested.instance.bundle(attested.payload)
    forgery(attested, bundle)
    got, printed = attested.verify(bundle, "--repo", REPOSITORY)
    assert (code, True) == (got, words in " ".join(printed.split())), printed


def test_what_proves_one_identity_does_not_prove_another(attested: Attested, tmp_path: Path) -> None:
    bundle = attested.instance.bundle(attested.payload)
    ours = key(tmp_path, "ours")
    for value, options, words in (
        (bundle, ("--repo", "example/other"), "attested it, not one of https://github.com/example/other"),
        (bundle, ("--key", ours.public), "--key requires a signature with that key"),
        (bundle["dsseEnvelope"], ("--repo", REPOSITORY), "it is not an attestation, and --repo requires one"),
        (bundle["dsseEnvelope"], ("--key", ours.public), "is not a signature of this content"),
        (json.loads(attested.payload), ("--repo", REPOSITORY), "it is not an attestation, and --repo requires one"),
    ):
        code, printed = attested.verify(value, *options)
        assert (1, True) == (code, words in printed), printed


def test_the_public_root_does_not_prove_what_another_instance_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    results = published(tmp_path / "results", SIMULATED)
    payload = run("make", results)[1].encode()
    (tmp_path / "attestation.json").write_text(json.dumps(Instance().bundle(payload)))
    code, printed = run("verify", tmp_path / "attestation.json", results, "--repo", REPOSITORY)
    assert (1, True) == (code, "cannot be verified with the root of Sigstore's public instance" in printed), printed
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    code, printed = run("verify", tmp_path / "attestation.json", results, "--repo", REPOSITORY)
    assert (2, True) == (code, "sigstore cannot keep its trusted root in" in printed), printed
