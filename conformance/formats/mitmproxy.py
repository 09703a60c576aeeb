"""Flows of mitmproxy, as `mitmdump -w` writes them, read by mitmproxy's own reader: each version has its own format.

Source: https://docs.mitmproxy.org/stable/api/mitmproxy/io.html
"""

import io
import shlex
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

from conformance.errors import InvalidDocument
from conformance.formats.inputs import Input
from conformance.formats.interactions import Interaction, conversation

KIND: Final = "mitmproxy"
_EXTRA: Final = (
    "is a file of mitmproxy, whose reader is not installed: pip install 'wire-conformance[mitmproxy]', or export a HAR"
    " file with mitmproxy itself: mitmdump -nr {0} --set hardump=flows.har"
)


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the conversation of a file's flows; raises InvalidDocument if it is damaged, or without mitmproxy."""
    yield from conversation(_interactions(data, path), path, KIND)


def _interactions(data: bytes, path: str) -> Iterator[Interaction]:
    reader, http = _library(path)
    flows = reader.FlowReader(io.BytesIO(data)).stream()
    number = 0
    while True:
        number += 1
        try:
            flow = next(flows, None)
        # What its reader raises for damaged data depends on where they are damaged.
        except (ArithmeticError, LookupError, TypeError, ValueError, reader.exceptions.MitmproxyException) as error:
            message = f"cannot be read by mitmproxy beyond flow {number - 1}: {error}"
            raise InvalidDocument(message, path) from None
        if flow is None:
            return
        if isinstance(flow, http.HTTPFlow):
            yield _interaction(flow)


def _library(path: str) -> tuple[Any, ModuleType]:
    try:
        # Imported here because only these files need it, and it takes long.
        from mitmproxy import http
        from mitmproxy.io import io as reader
    except ImportError:
        raise InvalidDocument(_EXTRA.format(shlex.quote(path)), path) from None
    return reader, http


def _interaction(flow: Any) -> Interaction:
    request, response = flow.request, flow.response
    # Bodies as they were sent: mitmproxy would unpack them without a bound.
    return Interaction(
        method=request.method,
        url=request.url,
        request=request.raw_content,
        status=None if response is None else response.status_code,
        headers=None if response is None else dict(response.headers),
        reply=None if response is None else response.raw_content,
        moment=request.timestamp_start,
    )
