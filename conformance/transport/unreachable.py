"""Why no connection to an endpoint comes about, in words that say what to change."""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import httpx

from conformance.errors import Unusable
from conformance.secrets.urls import shown_url

_NOT_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")
"""What OpenSSL says of an answer that is not TLS, such as a line of HTTP."""

_ASKS_FOR_TLS: Final = (
    b"plain http request was sent to https port",
    b"http request to an https server",
    b"reason: you're speaking plain http to an ssl-enabled server port",
)
"""What nginx, servers in Go and Apache answer to plain HTTP on a port for TLS, in lower case."""

_ALERT: Final = r"\x15\x03"
"""How a TLS alert begins, as httpx shows it instead of a line of HTTP."""

_ODD: Final = ("without sending a response", "illegal request line")
"""What httpx says of a connection that was closed before any reply, and of the bytes of an alert as a reply."""

_SECONDS: Final = 3.0
_SHOWN: Final = 4000


def needs_tls(url: str, answered: bytes = b"", error: BaseException | None = None) -> str:
    """Return in words that a port speaks TLS where plain HTTP was sent; empty if it does not, or if TLS was spoken.

    `answered` is the body of a reply; without one, `error` is what came instead, and the port is asked.
    """
    parts = urlsplit(url)
    if parts.scheme != "http":
        return ""
    said = answered[:_SHOWN].lower()
    if answered and not any([words in said for words in _ASKS_FOR_TLS]):
        return ""
    if not answered and _ALERT not in str(error):
        # What sent anything else, such as a broken header, is no server of TLS.
        may = isinstance(error, OSError | httpx.NetworkError) or any([words in str(error) for words in _ODD])
        if not may or not _speaks_tls(parts.hostname or "", parts.port or 80):
            return ""
    return "the port speaks TLS, and plain HTTP was sent; write https:// instead of http://"


def _speaks_tls(host: str, port: int) -> bool:
    """Return whether a port answers the beginning of TLS, with whatever certificate, or with an alert."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=_SECONDS) as connection:
        try:
            context.wrap_socket(connection, server_hostname=host).close()
        except ssl.SSLError as error:
            return "ALERT" in (error.reason or "")
        return True
    return False


def reason(error: BaseException) -> str:
    """Return why a connection failed, in words; empty if the error does not say it."""
    causes = tuple(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"TLS fails: the certificate is not trusted: {cause.verify_message or cause}"
        if isinstance(cause, ssl.SSLError):
            plain = any(word in str(cause) for word in _NOT_TLS)
            return (
                "TLS fails: the port does not speak TLS; write http:// instead of https://"
                if plain
                else f"TLS fails: {cause}"
            )
        if isinstance(cause, ConnectionRefusedError):
            return "nothing listens on that port"
        if isinstance(cause, socket.gaierror):
            return f"the name of the host cannot be resolved: {cause.strerror}"
    return str(error)


def require_http(url: str) -> None:
    """Raise Unusable, with what to change, if nothing listens at a URL, or not what its scheme says."""
    words = ""
    try:
        reply = httpx.get(url, timeout=_SECONDS, trust_env=False)
        words = needs_tls(url, reply.content) if reply.status_code == httpx.codes.BAD_REQUEST and reply.content else ""
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        words = reason(error) or "nothing answers there"
    except httpx.HTTPError as error:
        words = needs_tls(url, error=error)
    if words:
        raise Unusable(f"cannot connect to {shown_url(url)}: {words}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__
