"""A Sigstore instance of its own, in memory: it certifies workflows, logs what they sign, and has its own trusted root.

It stands for Sigstore's public instance, which only workflows on GitHub can ask. The verifier is the real one.
"""

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat import asn1
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from securesystemslib.dsse import Envelope
from sigstore.models import TrustedRoot
from sigstore.verify import Verifier
from sigstore_models.trustroot.v1 import TrustedRoot as RootMessage

from conformance.signing import PAYLOAD_TYPE
from conformance.signing.attestations import ISSUER

NOW: Final = datetime.now(UTC).replace(microsecond=0)
HOUR: Final = timedelta(hours=1)
REPOSITORY: Final = "example/gateway"
WORKFLOW: Final = f"https://github.com/{REPOSITORY}/.github/workflows/wire.yml@refs/heads/main"
_SCTS: Final = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_LOG: Final = "log.example"


def _der(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _sign(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(SHA256()))


def _text(value: bytes) -> str:
    return b64encode(value).decode()


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


class Instance:
    """The keys of the authority and of its two logs: of certificates, and of what was signed."""

    def __init__(self) -> None:
        self.authority_key, self.certificate_log, self.signature_log = _key(), _key(), _key()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority.example")])
        self.authority = (
            _builder(name, name, self.authority_key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(is_authority=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.authority_key.public_key()), critical=False)
            .sign(self.authority_key, SHA256())
        )

    def verifier(self) -> Verifier:
        """Return a verifier that trusts this instance."""
        log = {"baseUrl": f"https://{_LOG}", "hashAlgorithm": "SHA2_256"}
        root = {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [{**log, **_public(self.signature_log)}],
            "ctlogs": [{**log, **_public(self.certificate_log)}],
            "certificateAuthorities": [
                {
                    "subject": {"organization": "example", "commonName": "authority.example"},
                    "uri": "https://authority.example",
                    "certChain": {"certificates": [{"rawBytes": _text(self.authority.public_bytes(Encoding.DER))}]},
                    "validFor": {"start": _time(NOW - HOUR)},
                }
            ],
            "timestampAuthorities": [],
        }
        return Verifier(trusted_root=TrustedRoot(RootMessage.from_json(json.dumps(root))))

    def bundle(
        self, payload: bytes, *, issuer: str = ISSUER, workflow: str = WORKFLOW, kind: str = PAYLOAD_TYPE
    ) -> dict[str, Any]:
        """Return the bundle of a payload that a workflow of `REPOSITORY` signs."""
        key = _key()
        certificate = self._certificate(key, issuer, workflow)
        signature = _sign(key, Envelope(payload, kind, {}).pae())
        der = certificate.public_bytes(Encoding.DER)
        return {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": _text(der)},
                "tlogEntries": [self._entry(payload, signature, certificate)],
            },
            "dsseEnvelope": {
                "payload": _text(payload),
                "payloadType": kind,
                "signatures": [{"sig": _text(signature)}],
            },
        }

    def _certificate(self, key: ec.EllipticCurvePrivateKey, issuer: str, workflow: str) -> x509.Certificate:
        """Return the certificate of a workflow, with the promise of the log that it holds it (RFC 6962)."""
        builder = (
            _builder(x509.Name([]), self.authority.subject, key)
            .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(workflow)]), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(_usage(is_authority=False), critical=True)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.authority_key.public_key()), critical=False
            )
        )
        texts = {8: issuer, 11: "github-hosted", 12: f"https://github.com/{REPOSITORY}", 13: "0" * 40, 20: "push"}
        texts[21] = f"https://github.com/{REPOSITORY}/actions/runs/1/attempts/1"
        for number, text in texts.items():
            oid = x509.ObjectIdentifier(f"1.3.6.1.4.1.57264.1.{number}")
            builder = builder.add_extension(x509.UnrecognizedExtension(oid, asn1.encode_der(text)), critical=False)
        logged = builder.sign(self.authority_key, SHA256()).tbs_certificate_bytes
        issuer_id = sha256(_der(self.authority_key.public_key())).digest()
        time = int(NOW.timestamp() * 1000).to_bytes(8)
        entry = b"\0\0" + time + b"\0\1" + issuer_id + len(logged).to_bytes(3) + logged + b"\0\0"
        signature = _sign(self.certificate_log, entry)
        log_id = sha256(_der(self.certificate_log.public_key())).digest()
        promise = b"\0" + log_id + time + b"\0\0" + b"\4\3" + len(signature).to_bytes(2) + signature
        listed = len(promise).to_bytes(2) + promise
        listed = len(listed).to_bytes(2) + listed
        scts = x509.UnrecognizedExtension(_SCTS, asn1.encode_der(listed))
        return builder.add_extension(scts, critical=False).sign(self.authority_key, SHA256())

    def _entry(self, payload: bytes, signature: bytes, certificate: x509.Certificate) -> dict[str, Any]:
        """Return the only entry of the log of signatures, with the proofs that it is in it."""
        verifier = _text(certificate.public_bytes(Encoding.PEM))
        spec = {
            "envelopeHash": {"algorithm": "sha256", "value": "0" * 64},
            "payloadHash": {"algorithm": "sha256", "value": sha256(payload).hexdigest()},
            "signatures": [{"signature": _text(signature), "verifier": verifier}],
        }
        body = json.dumps({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec}).encode()
        root = sha256(b"\0" + body).digest()
        log_id = sha256(_der(self.signature_log.public_key())).digest()
        note = f"{_LOG}\n1\n{_text(root)}\n"
        signed_note = f"{note}\n— {_LOG} {_text(log_id[:4] + _sign(self.signature_log, note.encode()))}\n"
        time = int(NOW.timestamp())
        promised = {"body": _text(body), "integratedTime": time, "logID": log_id.hex(), "logIndex": 0}
        promise = _sign(self.signature_log, json.dumps(promised, separators=(",", ":")).encode())
        return {
            "logIndex": "0",
            "logId": {"keyId": _text(log_id)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(time),
            "inclusionPromise": {"signedEntryTimestamp": _text(promise)},
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": _text(root),
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {"envelope": signed_note},
            },
            "canonicalizedBody": _text(body),
        }


def _time(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


def _public(key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    der = _der(key.public_key())
    valid = {"start": _time(NOW - HOUR)}
    return {
        "publicKey": {"rawBytes": _text(der), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": valid},
        "logId": {"keyId": _text(sha256(der).digest())},
    }


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
    return builder.not_valid_before(NOW - HOUR).not_valid_after(NOW + HOUR)


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    """Return the usage of the key of an authority, or of one that signs documents."""
    return x509.KeyUsage(
        digital_signature=not is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )
