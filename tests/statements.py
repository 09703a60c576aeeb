"""Statements about published results, signed with keys that are made for the tests, and ways to forge them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

from conformance.resources import folder
from conformance.results.record import sealed
from conformance.signing import PAYLOAD_TYPE

SIMULATED = "baidu"
"""A provider whose published results are few and simulated."""


class Key(NamedTuple):
    """The files of a private key and of its public one; `signer` is that of securesystemslib."""

    private: Path
    public: Path
    signer: CryptoSigner


def key(where: Path, name: str, kind: str = "ed25519") -> Key:
    """Make a key of a kind: ed25519, ecdsa or rsa."""
    made: Any = {"ed25519": Ed25519PrivateKey.generate, "ecdsa": _ecdsa, "rsa": _rsa}[kind]()
    private, public = where / f"{name}.pem", where / f"{name}.pub"
    private.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    locked = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password"))
    (where / f"{name}.locked.pem").write_bytes(locked)
    return Key(private, public, CryptoSigner(made))


def _ecdsa() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _rsa() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def published(where: Path, *names: str) -> Path:
    """Return a folder with results of this project."""
    where.mkdir()
    for name in names:
        shutil.copy(folder("reports") / "results" / f"{name}.json", where)
    return where


def envelope(payload: bytes, *keys: Key, kind: str = PAYLOAD_TYPE) -> dict[str, Any]:
    """Return the envelope of a payload, signed with keys by the library alone."""
    made = Envelope(payload, kind, {})
    for each in keys:
        made.sign(each.signer)
    shown: dict[str, Any] = made.to_dict()
    return shown


def edited(path: Path, edit: Callable[[Any], object]) -> None:
    """Edit the JSON of a file in place."""
    value = json.loads(path.read_bytes())
    edit(value)
    path.write_text(json.dumps(value))


def resealed(path: Path, edit: Callable[[Any], object]) -> None:
    """Edit results and give them the digest of their new content, which needs no secret."""
    value = json.loads(path.read_bytes())
    edit(value)
    path.write_text(json.dumps(sealed(value)))


def relabel(value: Any, kind: str = "live", **run: Any) -> None:
    """Relabel the evidence of all cases of results, and change members of the run."""
    for case in value["cases"]:
        case["evidence"] = kind
    value["run"] |= {"evidence": [kind], **run}
