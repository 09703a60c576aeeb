"""What tests of the proxy's checks share: copies of exchanges, and what is found in them and printed."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance import profiles
from conformance.fidelity import Difference
from conformance.proxy.checking import Checking, Settings
from conformance.proxy.copies import Copy, Frame, read_frame
from conformance.proxy.judging import Judged, RuleFinding
from conformance.proxy.layers import FieldChange
from conformance.reporting.renderers import traffic
from tests.proxies import KEY

URL = "https://api.deepseek.com/chat/completions"


@dataclass
class Lines:
    """Collects what is printed."""

    lines: list[str] = field(default_factory=list)

    def finding(self, judged: Judged, found: RuleFinding, tap: str, layer: str) -> None:
        self.lines.append(traffic.finding_line(judged, found, tap, layer, lambda _, text: text))

    def more(self, judged: Judged, rule: str, count: int) -> None:
        self.lines.append(traffic.more_line(judged, rule, count))

    def change(self, change: FieldChange) -> None:
        self.lines.append(traffic.change_line(change))

    def loss(self, judged: Judged, loss: Difference) -> None:
        self.lines.append(traffic.loss_line(judged, loss, lambda _, text: text))

    def warn(self, message: str) -> None:
        self.lines.append(message)


def body_of(response: Any) -> bytes:
    if isinstance(response, list):
        events = [each if isinstance(each, str) else f"data: {json.dumps(each)}\n\n" for each in response]
        return "".join(events).encode()
    return json.dumps(response).encode()


def copy_of(exchange: dict[str, Any], tap: int = 0, **headers: str) -> Copy:
    """Return an exchange as it would pass the proxy, with a key."""
    kind = "text/event-stream" if isinstance(exchange["response"], list) else "application/json"
    sent = [("Authorization", f"Bearer {KEY}"), *[(name.replace("_", "-"), text) for name, text in headers.items()]]
    return Copy(
        tap, "POST", URL, sent, json.dumps(exchange["request"]).encode(), exchange.get("status", 200), "OK",
        [("Content-Type", kind)], body_of(exchange["response"]),
    )  # fmt: skip


def checked(given: Sequence[Copy], profile: str = "", **more: Any) -> tuple[Checking, list[str]]:
    """Return what is found in some copies, and what is printed."""
    printer = Lines()
    taps = (("front", URL), ("back", URL)) if any(each.tap for each in given) else (("", URL),)
    tape = more.pop("tape", None)
    found = Checking(Settings(taps, "2026-11-22", **more), profiles.load(profile) if profile else None, printer, tape)
    for each in given:
        found.take(frame_of(each))
    found.finish()
    return found, printer.lines


def frame_of(copy: Copy) -> Frame:
    """Return a copy as the other process reads it."""
    found = read_frame(io.BytesIO(b"".join(copy.frame())))
    assert found is not None
    return found
