"""Why no connection to an endpoint comes about, in words that say what to change."""

import socket
import ssl
from collections.abc import Iterator
from typing import Final

_NOT_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")
"""What OpenSSL says of an answer that is not TLS, such as a line of HTTP."""


def reason(error: BaseException) -> str:
    """Return why a connection failed, in words; empty if the error does not say it."""
    causes = tuple(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"TLS fails: the certificate is not trusted: {cause.verify_message or cause}"
        if isinstance(cause, ssl.SSLError):
            plain = any(word in str(cause) for word in _NOT_TLS)
            return "TLS fails: the port does not speak TLS; try http://" if plain else f"TLS fails: {cause}"
        if isinstance(cause, ConnectionRefusedError):
            return "nothing listens on that port"
        if isinstance(cause, socket.gaierror):
            return f"the name of the host cannot be resolved: {cause.strerror}"
    return str(error)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__
