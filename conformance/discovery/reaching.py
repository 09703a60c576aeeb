"""Where an API is below a URL: each usual prefix and each wire is tried, and a failure is said as what it is."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx

from conformance.discovery.wires import bodies, max_tokens
from conformance.errors import Unusable
from conformance.secrets.urls import shown_url
from conformance.suite.probes import error_text
from conformance.transport.client import Client, Endpoint
from conformance.transport.unreachable import needs_tls, reason
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wires import NAMES, by_name

PREFIXES: Final = ("/v1", "/openai/v1", "/v1beta", "/v1beta/openai", "/api/v1", "/api", "/anthropic/v1", "/openai", "")
"""What may stand between a host, or a path of a gateway, and the path of a wire."""

QUESTION: Final = "Answer with the one word: hello."

_OF_A_WIRE: Final = re.compile(r"/(?:chat/completions|messages|responses|models(?:/[^/]+:\w+)?)/?\Z")
_PAGE: Final = ", an HTML page"
_BAD_REQUEST: Final = 400
_ABSENT: Final = (404, 405, 410, 501)
_OF_THE_KEY: Final = (401, 403)
_LIST_SECONDS: Final = 15.0
_LIST_BYTES: Final = 1_000_000
_SHOWN: Final = 20

Connect = Callable[[Endpoint], Client]
"""What makes a client of an endpoint, with the limits of a run."""


class Reached(NamedTuple):
    """Where an API answers: its base URL and its wire."""

    base_url: str
    wire: str


def bases(url: str) -> tuple[str, ...]:
    """Return the base URLs to try for a URL, also for that of a whole request: first as given, then with prefixes."""
    given = _OF_A_WIRE.sub("", url.rstrip("/"))
    parts = urlsplit(given)
    roots = (given, f"{parts.scheme}://{parts.netloc}")
    return tuple(dict.fromkeys([given, *(f"{root}{prefix}" for root in roots for prefix in PREFIXES)]))


def models(urls: Iterable[str], wire: str, key: str, headers: Sequence[tuple[str, str]], seconds: float) -> list[str]:
    """Return the models that the first of some base URLs with a list has; none if there is no list.

    Raises Unusable if nothing can be connected to.
    """
    sent = {**by_name(wire).headers(key), **dict(headers)}
    for url in urls:
        try:
            reply = httpx.get(f"{url}/models", headers=sent, timeout=min(seconds, _LIST_SECONDS))
            if reply.status_code == _BAD_REQUEST and (words := needs_tls(url, reply.content)):
                raise Unusable(f"cannot send to {shown_url(url)}: {words}")
            listed: Any = reply.json() if len(reply.content) < _LIST_BYTES and reply.status_code == 200 else None
        except httpx.ConnectError as error:
            raise Unusable(f"cannot connect to {shown_url(url)} ({reason(error)})") from None
        except httpx.HTTPError as error:
            if words := needs_tls(url, error=error):
                raise Unusable(f"cannot send to {shown_url(url)}: {words}") from None
            return []
        except ValueError:
            continue
        if names := list(_names(listed)):
            # Of a list in pages, only the first is read, which shows that there are further models.
            is_whole = not (isinstance(listed, dict) and any([listed.get(key) for key in _FURTHER]))
            return names if is_whole or len(names) > 1 else [*names, "further ones on other pages"]
    return []


_FURTHER: Final = ("has_more", "next_page", "next", "nextPageToken", "next_page_token")
"""The members of a list that say that there is another page."""


def _names(listed: Any) -> Iterator[str]:
    """Yield the names in a list of models, as chat completions or Gemini have it, or as a plain array."""
    for each in listed if isinstance(listed, list) else ():
        name = each.get("id") if isinstance(each, dict) else each
        if isinstance(name, str):
            yield name
    for key, name in (("data", "id"), ("models", "name")):
        entries = listed.get(key) if isinstance(listed, dict) else None
        for each in entries if isinstance(entries, list) else ():
            if isinstance(each, dict) and isinstance(each.get(name), str):
                yield each[name].removeprefix("models/")


def only_model(names: Sequence[str], url: str) -> str:
    """Return the only model of a list; raises Unusable if there is not exactly one."""
    if len(names) == 1:
        return names[0]
    known = f"it lists {', '.join(names[:_SHOWN])}" if names else "it lists none"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    message = f"--model is required, since {shown_url(url)} does not list exactly one model; {known}{more}"
    raise Unusable(message)


def reach(connect: Connect, endpoint: Endpoint, model: str, wires: Sequence[str] = NAMES) -> Reached:
    """Return the first place that gives a reply of a wire, or else the first that answers at all.

    Raises Unusable with the reason if there is none, or if the key is refused.
    """
    answers: list[tuple[Reached, Exchange]] = []
    tried: dict[str, str] = {}
    for wire in wires:
        for base in bases(endpoint.base_url):
            exchange = _asked(connect, endpoint, Reached(base, wire), model)
            status = exchange.status or 0
            if status == 200 and _is_reply(exchange, wire):
                return Reached(base, wire)
            if status in _OF_THE_KEY and not answers:
                raise Unusable(_refused_key(exchange, key=endpoint.key))
            if _is_there(exchange, model):
                answers.append((Reached(base, wire), exchange))
                # Another prefix of a wire that answers says nothing more; busy servers are not asked again.
                if status == 429 or status >= 500:
                    return answers[0][0]
                break
            tried[exchange.url] = _answered(exchange)
        # A site that shows a page at every path is asked on no other wire.
        if not answers and all(words.endswith(_PAGE) for words in tried.values()):
            break
    if answers:
        return answers[0][0]
    shown = ", ".join([f"{urlsplit(url).path} ({words})" for url, words in tried.items()])
    raise Unusable(f"the server at {shown_url(endpoint.base_url)} answers, but has no path of an API: {shown}")


def _asked(connect: Connect, endpoint: Endpoint, place: Reached, model: str) -> Exchange:
    body: Mapping[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": QUESTION}],
        "max_tokens": max_tokens(place.wire),
    }
    with connect(_moved(endpoint, place)) as client:
        return client.send_once(body)


def _moved(endpoint: Endpoint, place: Reached) -> Endpoint:
    return replace(endpoint, base_url=place.base_url, wire=place.wire)


def _is_there(exchange: Exchange, model: str) -> bool:
    """Return whether an answer is one of an API, and not of a server that has no such path."""
    status, text = exchange.status or 0, error_text(bodies(exchange)[1])
    kind = exchange.headers.get("content-type", "").partition(";")[0].strip()
    if 300 <= status < 400 or (status < 400 and (_is_page(text) or kind.startswith(_FOREIGN))):
        return False
    # A host that serves no such model says so with 404, too.
    return status not in _ABSENT or (status == 404 and names_model(text, exchange.url, model))


_FOREIGN: Final = ("application/grpc", "application/x-protobuf", "application/xml", "text/xml", "image/")
"""What the answers of an API with JSON never are."""


def _is_page(text: str) -> bool:
    return text.lstrip()[:9].lower().startswith(("<!doctype", "<html"))


def _is_reply(exchange: Exchange, wire: str) -> bool:
    """Return whether an answer is a reply of a wire by its own form, since a translation reads any object as one."""
    body = bodies(exchange)[1]
    if isinstance(body, dict):
        return by_name(wire).is_reply(body) and bool(Index((exchange,)).replies)
    return exchange.streamed and bool(Index((exchange,)).replies)


def _answered(exchange: Exchange) -> str:
    """Return in words what a server without an API answers."""
    if location := exchange.headers.get("location"):
        return f"HTTP {exchange.status}, a redirect to {location:.100}"
    page = _PAGE if _is_page(error_text(bodies(exchange)[1])) else ""
    kind = exchange.headers.get("content-type", "").partition(";")[0].strip()
    foreign = f", {kind}" if kind.startswith(_FOREIGN) else ""
    return f"HTTP {exchange.status}{page or foreign}"


def names_model(text: str, url: str, model: str) -> bool:
    """Return whether the text of an error is about the model, and not about the path, which may hold its name."""
    words = text.replace(urlsplit(url).path, "")
    return re.search(rf"(?<!\w)(?:{re.escape(model)}|models?)(?!\w)", words, re.IGNORECASE) is not None


def _refused_key(exchange: Exchange, *, key: str) -> str:
    said = error_text(bodies(exchange)[1])
    what = "refuses the key" if key else "needs a key, and none was sent"
    return f"{exchange.url} {what} (HTTP {exchange.status}: {said:.200}); --key-env names the variable that holds it"
