"""The process that checks: it takes copies one by one, and reports what it finds as it finds it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from conformance.documents import GrowingTexts
from conformance.fidelity import Difference
from conformance.profiles import Profile
from conformance.proxy.conversations import Conversation, Grouping
from conformance.proxy.copies import Copy, Frame
from conformance.proxy.judging import Judge, Judged, RuleFinding
from conformance.proxy.layers import (
    BEFORE,
    BEHIND,
    CLIENT,
    GATEWAY,
    PROVIDER,
    FieldChange,
    Layers,
    layer_before,
    layer_behind,
    traced,
)
from conformance.proxy.learned import LearnedTexts
from conformance.proxy.origins import origin, part
from conformance.proxy.reading import ReadCopy, read
from conformance.proxy.tally import Tally
from conformance.proxy.tape import Tape
from conformance.results import files
from conformance.secrets import Scrubber, learning, scrubber
from conformance.transport.cassette import LOOPBACK
from conformance.wire.views import Side

MAX_LINES: Final = 3
"""How many findings of one rule in one exchange are printed; all are counted."""

MAX_KEYS: Final = 64
"""How many secrets of requests are remembered to be removed from what is written and printed, those used last."""


_NOTHING: Final[Mapping[tuple[str, str], str]] = {}


@dataclass(frozen=True, slots=True)
class Settings:
    """What to check, and where to write.

    `taps`: the name and the URL of each listening point, the one that the client uses first. `header` names the header
    of a request that tells its conversation, `correlate` the one that a gateway passes on. `folder` is the name that
    cassettes are kept under.
    """

    taps: tuple[tuple[str, str], ...]
    today: str
    header: str = ""
    correlate: str = ""
    record: str = ""
    results: str = ""
    folder: str = ""


class Printer(Protocol):
    """Prints what happens, without knowing how it came about."""

    def finding(self, judged: Judged, found: RuleFinding, tap: str, layer: str) -> None:
        """Print a finding; `tap` is empty without a second tap, and `layer` if it is unknown."""

    def more(self, judged: Judged, rule: str, count: int) -> None:
        """Print how many further findings of a rule an exchange has."""

    def change(self, change: FieldChange) -> None:
        """Print what a gateway does to a field."""

    def loss(self, judged: Judged, loss: Difference) -> None:
        """Print what was lost on its way, with both places."""

    def warn(self, message: str) -> None:
        """Print what went wrong in the check itself."""


@dataclass(slots=True)
class Checking:
    """Takes copies and keeps what a run has found; `printer` gets each finding as it is found.

    `front_tape` records what passes the first of two taps: those replies are the gateway's, not the provider's.
    """

    settings: Settings
    profile: Profile | None
    printer: Printer
    tape: Tape | None = None
    front_tape: Tape | None = None
    tally: Tally = field(default_factory=Tally)
    layers: Layers = field(default_factory=Layers)
    scrubber: Scrubber = field(init=False)
    _keys: dict[str, None] = field(default_factory=dict, repr=False)
    _texts: GrowingTexts = field(default_factory=GrowingTexts, repr=False)
    _learned: LearnedTexts = field(default_factory=LearnedTexts, repr=False)
    _grouping: Grouping = field(init=False)
    _judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the rules."""
        self.scrubber = scrubber((), [url for _, url in self.settings.taps])
        self._grouping = Grouping(1 if self.tape is None else self.tape.first_number())
        self._judge = Judge(self.profile)
        self.tally.identifies = bool(self.settings.results)

    def take(self, frame: Frame) -> None:
        """Take one frame of a kind other than `settings`."""
        if frame.kind == "copy":
            self._check(frame.copy())
            return
        self.tally.dropped = frame.value["dropped"]
        self.tally.open = frame.value.get("open", 0)

    def finish(self) -> None:
        """Report what waited for a counterpart, and write cassettes and results."""
        for judged in self.layers.rest():
            self._publish_behind(judged, None)
        self.pause()
        if self.settings.results and self.profile is not None:
            host = urlsplit(self.settings.taps[-1][1]).hostname or ""
            shown = "localhost" if host in LOOPBACK else host
            for each in self.tally.results(self.profile, self.settings.today, shown):
                files.write(Path(self.settings.results), each, self.scrubber)

    def pause(self) -> None:
        """Write what has changed, while no copy waits or some time has passed."""
        for tape in filter(None, (self.tape, self.front_tape)):
            tape.write()

    def _check(self, copy: Copy) -> None:
        self.tally.missing.update(copy.missing)
        reading = read(copy, self._texts)
        self._learn_keys(copy, reading)
        exchange = reading.exchange
        if exchange is None:
            self.tally.add_unchecked(reading.reason)
            return
        named = _header(copy, self.settings.header)
        conversation = self._grouping.find(copy.tap, exchange, named)
        if (tape := self._tape_of(copy.tap)) is not None:
            tape.add(conversation, exchange, copy, reading, self.scrubber)
        judged = self._without_secrets(self._judge.judge(conversation, exchange))
        self._grouping.keep(conversation, exchange, named)
        self._report(judged, copy)
        for ended in self._grouping.overdue():
            self._end(ended)

    def _learn_keys(self, copy: Copy, reading: ReadCopy) -> None:
        """Remember the secrets of an exchange: its reply, a later one or a message may hold them."""
        model = reading.exchange.model if reading.exchange is not None else ""
        around = [
            *learning.of_headers(copy.sent_headers),
            *learning.of_reply_headers(copy.headers),
            *learning.of_url(copy.url),
        ]
        # The name of a model in a header or a path is not a secret.
        given = [*[each for each in around if each != model], *self._learned.of_request(reading.sent, reading.asked)]
        is_new = False
        for each in dict.fromkeys(given):
            is_new |= each not in self._keys
            # What comes again is the newest.
            self._keys.pop(each, None)
            self._keys[each] = None
        for oldest in list(self._keys)[:-MAX_KEYS]:
            del self._keys[oldest]
        if is_new:
            known = scrubber([*self._keys], [url for _, url in self.settings.taps])
            self.scrubber = replace(known, placeholders=self.scrubber.placeholders)

    def _without_secrets(self, judged: Judged) -> Judged:
        """Return what was found without the secrets that are known now; when it is written, they may be forgotten."""
        secrets = self.scrubber
        suspects = secrets.suspects([each.finding.message for each in judged.found])
        places: dict[str, str] = {}
        found = []
        for each in judged.found:
            at, message = each.finding.at, each.finding.message
            if at not in places:
                places[at] = secrets.name(at)
            clean = secrets.text(message) if message in suspects else message
            found.append(each._replace(finding=replace(each.finding, at=places[at], message=clean)))
        return replace(judged, found=tuple(found))

    def _report(self, judged: Judged, copy: Copy) -> None:
        """Print and count the findings of an exchange; one behind a gateway waits for the one before it."""
        named = _header(copy, self.settings.correlate)
        if len(self.settings.taps) == 1:
            self._publish(judged, "", lambda found: PROVIDER if found.finding.side == Side.PROVIDER else CLIENT)
        elif copy.tap:
            for late in self.layers.wait(judged, named):
                self._publish_behind(late, None)
        else:
            self._report_pair(judged, self.layers.match(judged, named))

    def _report_pair(self, judged: Judged, behind: Sequence[Judged]) -> None:
        """Print and count what an exchange before the gateway and those behind it show, and what is lost between."""
        if not behind:
            self._publish(judged, BEFORE, lambda found: layer_before(found, None, {}))
            return
        session, answer = self.layers.session(judged, behind), behind[-1]
        has_findings = any([each.found for each in (judged, *behind)])
        known = traced(session, self.profile) if has_findings else {}
        for each in behind:
            self._publish_behind(each, judged, known if each is answer else {})
        self._publish(judged, BEFORE, lambda found: layer_before(found, answer, known))
        for change in self.layers.new_changes(judged.exchange, answer.exchange):
            self.printer.change(change)
        for loss in self.layers.losses(session, self.profile):
            self.tally.add_loss(judged, loss)
            self.printer.loss(judged, loss)

    def _publish_behind(
        self, judged: Judged, before: Judged | None, known: Mapping[tuple[str, str], str] = _NOTHING
    ) -> None:
        self._publish(judged, BEHIND, lambda found: layer_behind(found, before, known), before)

    def _publish(
        self, judged: Judged, side: str, layer_of: Callable[[RuleFinding], str], front: Judged | None = None
    ) -> None:
        """Print and count findings, each at one tap: what passed a gateway as it was is not its fault."""
        layers = {found: layer_of(found) for found in judged.found}
        elsewhere = {BEFORE: PROVIDER, BEHIND: CLIENT}.get(side)
        shown = tuple([found for found in judged.found if not layers[found] or layers[found] != elsewhere])
        named = self._named(judged, layers, front or judged)
        self.tally.add(replace(judged, found=shown))
        self.tally.add_parts([named[found] for found in shown])
        tap = "" if not side else self.settings.taps[side == BEHIND][0]
        printed: Counter[str] = Counter()
        for found in shown:
            printed[found.rule] += 1
            if printed[found.rule] <= MAX_LINES:
                self.printer.finding(judged, found, tap, named[found])
        for rule, count in printed.items():
            if count > MAX_LINES:
                self.printer.more(judged, rule, count - MAX_LINES)

    def _named(self, judged: Judged, layers: Mapping[RuleFinding, str], front: Judged) -> Mapping[RuleFinding, str]:
        """Return the layers with what is known of them: the part of a provider, and the name of a gateway.

        `front` is the exchange with the client, whose reply is the gateway's.
        """
        source = origin(judged.exchange, self.profile)
        gateway = f"{GATEWAY} {origin(front.exchange, None).gateway}".rstrip()
        return {
            found: part(found, source) if layer == PROVIDER else gateway if layer == GATEWAY else layer
            for found, layer in layers.items()
        }

    def _end(self, conversation: Conversation) -> None:
        if (tape := self._tape_of(conversation.tap)) is not None:
            tape.end(conversation)

    def _tape_of(self, tap: int) -> Tape | None:
        return self.tape if tap == len(self.settings.taps) - 1 else self.front_tape


def _header(copy: Copy, name: str) -> str:
    if not name:
        return ""
    return next((value for key, value in copy.sent_headers if key.lower() == name.lower()), "")


def settings_of(value: Mapping[str, Any]) -> Settings:
    """Return the settings that crossed the pipe."""
    taps = tuple([(str(name), str(url)) for name, url in value["taps"]])
    names = ("today", "header", "correlate", "record", "results", "folder")
    return Settings(taps, **{name: str(value[name]) for name in names})
