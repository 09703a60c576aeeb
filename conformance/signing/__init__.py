"""Signed documents: in-toto statements, in DSSE envelopes signed with a key file, or attested by GitHub Actions.

What is signed is the payload together with its type, so that a signature of one kind of document never passes for one
of another kind. Nothing of a payload is interpreted before its signature is verified.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.documents import parse_json
from conformance.documents.bounds import read_bytes
from conformance.errors import ConformanceError, InvalidDocument, Unusable

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
"""The type of the payload of every document here (https://github.com/in-toto/attestation)."""

_OPTIONAL: Final = ("securesystemslib", "cryptography", "sigstore")


class NotProven(ConformanceError):
    """A signature is missing or does not prove what it should; the message says why."""


class Expected(NamedTuple):
    """Who must have signed: with each of some public keys, or a workflow of the GitHub repository `OWNER/NAME`."""

    keys: Sequence[Path] = ()
    repository: str = ""


class Opened(NamedTuple):
    """The payload of a document whose signature, if it has one, was verified as far as it was said whose it must be.

    `signer`: who signed, in words; empty if no signature was verified. `unproven`: why it is not proven that the right
    one signed; empty if it is.
    """

    payload: bytes
    signer: str
    unproven: str


def sign(payload: bytes, key: Path) -> dict[str, Any]:
    """Return the DSSE envelope of a payload of `PAYLOAD_TYPE`, signed with the private key in a PEM file.

    Raises Unusable if the file holds no Ed25519 or ECDSA key, or an encrypted one.
    """
    with _needs("sign"):
        from conformance.signing import envelopes
    return envelopes.signed(payload, key)


def open_document(path: Path, expected: Expected) -> Opened:
    """Return the payload of a document in a file: an envelope, a Sigstore bundle, or an unsigned statement.

    Raises NotProven if a signature is wrong or not by whom it must be, InvalidDocument if the file is none of them,
    and Unusable if a key cannot be used or what verifies the signature is not installed.
    """
    raw, file = read_bytes(path), str(path)
    value: Any = parse_json(raw, file)
    if not isinstance(value, dict):
        raise InvalidDocument("expected a statement, a signed envelope or an attestation", file, None, "")
    if "dsseEnvelope" in value:
        if expected.keys:
            raise NotProven("GitHub Actions attested it, and --key requires a signature with that key")
        with _needs("attest"):
            from conformance.signing import attestations
        return attestations.opened(raw, file, expected.repository)
    if expected.repository:
        raise NotProven("it is not an attestation, and --repo requires one by GitHub Actions")
    if "payload" in value:
        with _needs("sign"):
            from conformance.signing import envelopes
        return envelopes.opened(value, file, expected.keys)
    if expected.keys:
        raise NotProven("it is unsigned, and --key requires a signature")
    return Opened(raw, "", "unsigned")


@contextmanager
def _needs(extra: str) -> Iterator[None]:
    """Name the extra that installs what an import needs; most users verify nothing, and the libraries are large."""
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in _OPTIONAL:
            raise
        raise Unusable(f"{error.name} is not installed: pip install 'wire-conformance[{extra}]'") from None
