"""DSSE envelopes (https://github.com/secure-systems-lab/dsse), signed and verified with key files in PEM.

The library is that of in-toto and TUF, and so are the key IDs.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey

from conformance.documents import Bounds
from conformance.documents.bounds import read_bytes
from conformance.documents.pointer import render
from conformance.errors import InvalidDocument, Unusable
from conformance.schemas import validator
from conformance.signing import PAYLOAD_TYPE, NotProven, Opened

_KEY_FILE: Final = Bounds(bytes=64 * 1024)
_KINDS: Final = ("ed25519", "ecdsa")
_EXPECTED: Final = "Ed25519, or ECDSA on P-256, P-384 or P-521,"
_BEGIN: Final = b"-----BEGIN "
_PRIVATE: Final = b"PRIVATE KEY-----"


class PublicKey(NamedTuple):
    """A public key and its file; `fingerprint` is the SHA-256 of its DER form, in hexadecimal digits."""

    path: Path
    key: SSlibKey
    fingerprint: str

    def __str__(self) -> str:
        """Return whose a signature with it is, in words."""
        kind = f"{self.key.keytype} key {self.path}"
        return f"{kind}, key ID {self.key.keyid}, SHA-256 fingerprint {self.fingerprint}"


def signed(payload: bytes, path: Path) -> dict[str, Any]:
    """Return the envelope of a payload; raises as `conformance.signing.sign` does."""
    data = read_bytes(path, _KEY_FILE)
    try:
        signer = CryptoSigner(load_pem_private_key(data, None))
    except TypeError:
        raise Unusable(f"{path} is encrypted; expected a private key without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        # What the library says of the file might show the key.
        raise Unusable(f"{path} has no private key that can sign; expected {_EXPECTED} in PEM") from None
    _check_kind(signer.public_key, path)
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    shown: dict[str, Any] = envelope.to_dict()
    return shown


def opened(value: Mapping[str, Any], file: str, paths: Sequence[Path]) -> Opened:
    """Return the payload of the envelope that is the value of a file.

    Without the paths of public keys, nothing is proven. With them, every key must have signed, and every signature must
    be by one of them. Raises NotProven otherwise.
    """
    for error in validator("files/envelope").errors(value):
        raise InvalidDocument(error.message, file, None, render(error.place))
    if value["payloadType"] != PAYLOAD_TYPE:
        raise NotProven(f"its payload is of the type {value['payloadType']!r}, and not of {PAYLOAD_TYPE!r}")
    # The library changes what it is given, and requires the key ID, which DSSE leaves optional.
    signatures = [{"keyid": each.get("keyid", ""), "sig": each["sig"]} for each in value["signatures"]]
    named = ", ".join([repr(each["keyid"]) for each in signatures])
    try:
        envelope = Envelope.from_dict({**value, "signatures": signatures})
    except ValueError as error:
        raise NotProven(f"it cannot be verified: {error}") from None
    if paths and not signatures:
        raise NotProven("it has no signatures, and --key requires one")
    if paths:
        keys = {each.fingerprint: each for each in map(_public, paths)}
        return Opened(envelope.payload, "; ".join(_signers(envelope, list(keys.values()))), "")
    if signatures:
        unproven = f"signed with a key that --key does not name (key ID {named}, as it says itself)"
        return Opened(envelope.payload, "", unproven)
    return Opened(envelope.payload, "", "unsigned")


def _signers(envelope: Envelope, keys: Sequence[PublicKey]) -> Iterator[str]:
    """Yield in words by which key each signature is; raises NotProven."""
    content = envelope.pae()
    waiting = list(keys)
    for signature in envelope.signatures.values():
        found = next((each for each in waiting if _is_by(each.key, signature, content)), None)
        if found is None:
            raise NotProven(
                f"the signature that names key ID {signature.keyid!r} is not a signature of this content with "
                f"{' or '.join([str(each.path) for each in waiting]) or 'one more of the keys'}"
            )
        # Anybody can edit a key ID, so it never chooses the key; but one of another key must not be believed either.
        if signature.keyid not in ("", found.key.keyid, found.fingerprint):
            raise NotProven(f"its signature names key ID {signature.keyid!r}, but is by {found}")
        waiting.remove(found)
        yield str(found)
    for each in waiting:
        raise NotProven(f"it has no signature by {each}")


def _is_by(key: SSlibKey, signature: Signature, content: bytes) -> bool:
    try:
        # The library wants the key ID of the key, which a signature of DSSE need not have.
        key.verify_signature(Signature(key.keyid, signature.signature), content)
    except UnverifiedSignatureError:
        return False
    return True


def _public(path: Path) -> PublicKey:
    data = read_bytes(path, _KEY_FILE)
    if _PRIVATE in data:
        raise Unusable(f"{path} is a private key; pass the public one, which `openssl pkey -pubout` prints")
    if data.count(_BEGIN) > 1:
        # Only the first would be used.
        raise Unusable(f"{path} has more than one key; pass each in a file of its own")
    try:
        loaded = load_pem_public_key(data)
        key = SSlibKey.from_crypto(loaded)
    except (ValueError, UnsupportedAlgorithm):
        raise Unusable(f"{path} has no public key that can be used; expected {_EXPECTED} in PEM") from None
    _check_kind(key, path)
    der = loaded.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return PublicKey(path, key, sha256(der).hexdigest())


def _check_kind(key: SSlibKey, path: Path) -> None:
    if key.keytype not in _KINDS:
        raise Unusable(f"{path} is a key of {key.keytype}; expected {_EXPECTED} in PEM")
