"""Fetches pages politely: one connection to a host at a time, with pauses, and within bounds, whatever a host sends."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

import httpx

from conformance.evidence.cited.pages import Page, Pages, readable
from conformance.transport import body as bodies
from conformance.urls import redirected

MAX_REDIRECTS: Final = 5
MAX_FAILURES: Final = 3
"""After so many failures in a row, the other pages of a host are not asked for."""

_AGENT: Final = "wire-conformance (checks that cited pages still exist)"
_HOSTS_AT_ONCE: Final = 8
_ATTEMPTS: Final = 3
_MAX_WAIT: Final = 60.0
_BUSY: Final = (429, 503)
_REDIRECTS: Final = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Pace:
    """How to fetch: `delay` seconds between two requests to a host, `seconds` for one reply, to its last byte."""

    delay: float = 1.0
    seconds: float = 30.0


@dataclass(slots=True)
class _Host:
    """What is known of a host during a run."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0
    failures: int = 0


class _Failed(Exception):
    """Nothing can be said of a page; the message says why."""


def fetch(
    urls: Iterable[str],
    pages: Pages,
    now: str,
    on_page: Callable[[Page], None],
    pace: Pace = Pace(),
    transport: httpx.AsyncBaseTransport | None = None,
) -> Mapping[str, Page]:
    """Return the page of each address, and keep in `pages` what is certain: pages, and that there is none.

    `now` is the ISO 8601 time to note. `on_page` is called for each page. `transport` replaces the network. Nothing
    that a host sends raises.
    """
    return asyncio.run(_Fetcher(pages, now, on_page, pace).all(dict.fromkeys(urls), transport))


class _Fetcher:
    def __init__(self, pages: Pages, now: str, on_page: Callable[[Page], None], pace: Pace) -> None:
        self._pages, self._now, self._on_page, self._pace = pages, now, on_page, pace
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)
        self._slots = asyncio.Semaphore(_HOSTS_AT_ONCE)

    async def all(self, urls: Iterable[str], transport: httpx.AsyncBaseTransport | None) -> dict[str, Page]:
        """Fetch all addresses."""
        headers = {"user-agent": _AGENT, "accept-encoding": bodies.ACCEPTED_ENCODINGS}
        timeout = httpx.Timeout(self._pace.seconds)
        async with httpx.AsyncClient(headers=headers, timeout=timeout, transport=transport) as client:
            return {page.url: page for page in await asyncio.gather(*(self._page(client, url) for url in urls))}

    async def _page(self, client: httpx.AsyncClient, url: str) -> Page:
        try:
            page = await self._followed(client, url)
        except _Failed as failed:
            page = Page(url, failure=str(failed))
        else:
            page = replace(page, url=url, fetched=self._now)
            self._pages.put(page)
        self._on_page(page)
        return page

    async def _followed(self, client: httpx.AsyncClient, url: str) -> Page:
        """Return the page at the end of the redirects."""
        address = url
        for _ in range(MAX_REDIRECTS + 1):
            found = await self._asked(client, address)
            if isinstance(found, Page):
                return found
            address = found
        raise _Failed(f"redirects more than {MAX_REDIRECTS} times")

    async def _asked(self, client: httpx.AsyncClient, address: str) -> Page | str:
        """Return what an address answers: a page, or where it redirects to."""
        host = self._hosts[_host(address)]
        async with host.lock, self._slots:
            if host.failures >= MAX_FAILURES:
                raise _Failed(f"not asked, because its host failed {MAX_FAILURES} times in a row")
            for attempt in range(1, _ATTEMPTS + 1):
                await asyncio.sleep(max(0.0, host.free_at - asyncio.get_running_loop().time()))
                try:
                    found = await self._sent(client, address)
                except _Failed:
                    host.failures += 1
                    raise
                finally:
                    host.free_at = asyncio.get_running_loop().time() + self._pace.delay
                if not isinstance(found, float):
                    host.failures = 0
                    return found
                if attempt < _ATTEMPTS:
                    await asyncio.sleep(found)
            host.failures += 1
        raise _Failed("the server is busy")

    async def _sent(self, client: httpx.AsyncClient, address: str) -> Page | str | float:
        """Return the answer to one request; a busy host answers with the seconds to wait."""
        try:
            async with asyncio.timeout(self._pace.seconds):
                reply = await client.send(client.build_request("GET", address), stream=True)
                try:
                    return await _answer(reply)
                finally:
                    await reply.aclose()
        except (TimeoutError, httpx.TimeoutException):
            raise _Failed(f"no whole reply within {self._pace.seconds:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise _Failed(str(error) or type(error).__name__) from None


async def _answer(reply: httpx.Response) -> Page | str | float:
    if reply.status_code in _BUSY:
        after = reply.headers.get("retry-after", "")
        return min(float(after), _MAX_WAIT) if after.isdecimal() and len(after) < len("1000000") else 1.0
    if reply.status_code in _REDIRECTS and "location" in reply.headers:
        return redirected(str(reply.url), reply.headers["location"])
    page = Page("", reply.status_code, str(reply.url))
    if page.is_gone:
        return page
    if not reply.is_success:
        raise _Failed(f"HTTP {reply.status_code}")
    content = await bodies.read(reply)
    if content.cut:
        raise _Failed(f"got {content.cut}")
    return replace(page, text=readable(content.data, reply.headers.get("content-type", "")))


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError as error:
        raise _Failed(f"invalid address: {error}") from None
