"""Attestations by GitHub Actions: Sigstore bundles, verified offline against the trusted root that sigstore ships.

The trusted root is that of Sigstore's public instance, which signs for public repositories. Those of private ones have
a certificate of GitHub's own instance, and only `gh attestation verify` knows its root.
"""

import logging
from typing import Final

from cryptography.hazmat import asn1
from cryptography.x509 import (
    Certificate,
    ExtensionNotFound,
    ObjectIdentifier,
    SubjectAlternativeName,
    UniformResourceIdentifier,
    UnrecognizedExtension,
)
from sigstore.errors import Error
from sigstore.models import Bundle
from sigstore.verify import Verifier
from sigstore.verify.policy import OIDCIssuerV2

from conformance.errors import Unusable
from conformance.signing import PAYLOAD_TYPE, NotProven, Opened

ISSUER: Final = "https://token.actions.githubusercontent.com"
"""Who vouches for the identity of a workflow of github.com."""

_GITHUB: Final = "https://github.com/"
_OIDS: Final = "1.3.6.1.4.1.57264.1"
"""Of Fulcio's certificates: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md."""
_RUNNER, _REPOSITORY, _COMMIT, _TRIGGER, _RUN = 11, 12, 13, 20, 21


class Workflow:
    """The policy that a certificate is of a workflow of GitHub Actions; it remembers of which.

    sigstore calls `verify` once the certificate is proven to be Sigstore's. `name` is the URL of the workflow's file,
    with the ref that it was of; `repository` the URL of the repository that it ran for.
    """

    def __init__(self) -> None:
        self.name = self.repository = self.run = ""

    def verify(self, cert: Certificate) -> None:
        """Raise VerificationError if the certificate is not of a workflow."""
        OIDCIssuerV2(ISSUER).verify(cert)
        names = cert.extensions.get_extension_for_class(SubjectAlternativeName).value
        self.name = ", ".join(names.get_values_for_type(UniformResourceIdentifier))
        self.repository = _text(cert, _REPOSITORY)
        self.run = (
            f"commit {_text(cert, _COMMIT)}, started by {_text(cert, _TRIGGER)} on a {_text(cert, _RUNNER)} runner, "
            f"{_text(cert, _RUN)}"
        )

    def check(self, repository: str) -> None:
        """Raise NotProven if the workflow is not of a repository, or did not run for it."""
        # GitHub does not distinguish case in names.
        expected = f"{_GITHUB}{repository}".lower()
        if self.repository.lower() != expected:
            raise NotProven(f"a workflow of {self.repository or 'no repository'} attested it, not one of {expected}")
        # A reusable workflow signs in its own name, and its callers choose what it runs on.
        if not self.name.lower().startswith(f"{expected}/"):
            raise NotProven(f"{self.name} attested it for {expected}, and is of another repository")


def opened(raw: bytes, file: str, repository: str) -> Opened:
    """Return the payload of a Sigstore bundle whose signature, certificate and log entry are proven.

    Raises NotProven if they are not, or not of a workflow of the repository. Without a repository, the workflow is
    known, and not whether it is the right one.
    """
    workflow = Workflow()
    try:
        kind, payload = _verifier().verify_dsse(Bundle.from_json(raw), workflow)
    except (Error, ValueError, TypeError, ExtensionNotFound) as error:
        reason = str(error).partition("\n")[0]
        raise NotProven(
            f"{file} cannot be verified with the root of Sigstore's public instance: {reason}; "
            "attestations of private repositories need `gh attestation verify`"
        ) from None
    if kind != PAYLOAD_TYPE:
        raise NotProven(f"its payload is of the type {kind!r}, and not of {PAYLOAD_TYPE!r}")
    if repository:
        workflow.check(repository)
    signer = f"GitHub Actions workflow {workflow.name} for {workflow.repository}, {workflow.run}"
    return Opened(payload, signer, "" if repository else "attested by a workflow that --repo does not name")


def _verifier() -> Verifier:
    # It warns on standard error that it does not ask the network.
    logging.getLogger("sigstore").setLevel(logging.ERROR)
    try:
        return Verifier.production(offline=True)
    except OSError as error:
        # It keeps a copy in the folder of the user's caches.
        raise Unusable(f"sigstore cannot keep its trusted root in {error.filename}: {error.strerror}") from None


def _text(cert: Certificate, number: int) -> str:
    """Return the text of an extension that Fulcio defines; empty if the certificate does not have it."""
    try:
        value = cert.extensions.get_extension_for_oid(ObjectIdentifier(f"{_OIDS}.{number}")).value
    except ExtensionNotFound:
        return ""
    return asn1.decode_der(str, value.value) if isinstance(value, UnrecognizedExtension) else ""
