"""Requests on trial: a fix counts only if the conversation, judged again, lacks the finding and has no new one."""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final, NamedTuple, TypeAlias

from conformance import rules, wires
from conformance.documents.patch import Operation, apply, difference
from conformance.documents.pointer import parse
from conformance.fixes.content import HeldContent, Remembered, content_of, loss
from conformance.fixes.excerpt import LISTS, shared_length
from conformance.fixes.problem import Candidate, ClientProblem, with_request
from conformance.judge import judge_last, judgement_of_last, presumed_wire
from conformance.profiles import Profile
from conformance.results import Finding, Outcome, Status
from conformance.rules import Rule
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.values import as_object, rendered

EARLIER: Final = 3
"""How many exchanges before a request are judged with it, if that is enough to see the finding: a reply comes back in
the next request, and judging a whole session for each attempt would take the square of its length."""


MAX_FORMS: Final = 64
MAX_SCENES: Final = 8
"""How many forms of a request, and how many requests, are kept with what was found in them."""


_MORE: Final = re.compile(r"and (\d{1,15}) more findings of this rule")
_NUMBER: Final = re.compile(r"(?<=/)\d+(?=/|$)")

_Key: TypeAlias = tuple[str, str, str]
"""A finding of a request: its rule, its place in the request and its message."""


class ProvenPatch(NamedTuple):
    """The operations that fix a finding, and the candidate that they are a part of."""

    patch: Sequence[Operation]
    candidate: Candidate


class _Found(NamedTuple):
    """The findings about the last exchange: a count by rule and level, and each one by rule, place and message."""

    counts: Counter[tuple[str, str]]
    each: frozenset[tuple[str, str, str]]


class _Form:
    """Another form of a request in its conversation, translated: what it says, and what is found in it."""

    def __init__(self, request: Any, scene: "Scene") -> None:
        self._request = request
        self._scene = scene
        self._of_rules: dict[str, _Found] = {}
        self._losses: dict[tuple[frozenset[str], str], str] = {}

    @cached_property
    def operations(self) -> Sequence[Operation]:
        """Return how the request differs from that of the conversation."""
        return difference(self._scene.conversation[-1].request, self._request)

    @cached_property
    def last(self) -> Exchange:
        """Return this form of the last request in its exchange, translated."""
        last = with_request(self._scene.conversation[-1], self._request)
        return self.conversation[-1] if self._scene.keeps_replies else self._scene.translated_alone(last)

    @cached_property
    def conversation(self) -> Conversation:
        """Return the translated conversation with this form of its last request."""
        # A client that is fixed was so in the requests before, too: a history that differs from theirs is no new fault.
        scene = self._scene
        *before, last = scene.conversation
        earlier = [carried(each, last.request, self._request) for each in before]
        if all([now is then for now, then in zip(earlier, before, strict=True)]) and not scene.keeps_replies:
            return (*scene.translated[:-1], self.last)
        return wires.translate((*earlier, with_request(last, self._request)), presumed_wire(scene.profile))

    @cached_property
    def content(self) -> HeldContent:
        """Return what the request says."""
        return content_of(self.last, self._scene.remembered)

    def loss(self, candidate: Candidate) -> str:
        """Return what this form of the request loses, in words; the same for all findings about the request."""
        if self.last.protocol != self._scene.translated[-1].protocol:
            return "the request would be one of another wire"
        key = candidate.spared, candidate.retold
        if key not in self._losses:
            self._losses[key] = loss(self._scene.content, self.content, self._scene.known, *key)
        return self._losses[key]

    @cached_property
    def index(self) -> Index:
        """Return the elements of the conversation."""
        return Index(self.conversation, shared=self._scene.shared)

    @cached_property
    def found(self) -> _Found:
        """Return what all rules find."""
        return _found(self.index, self._scene, rules.load())

    def of_rule(self, rule: str) -> _Found:
        """Return what one rule finds: most forms still have the finding, and the other rules need not judge them."""
        if rule not in self._of_rules:
            self._of_rules[rule] = _found(self.index, self._scene, rules.select((rule,)))
        return self._of_rules[rule]


class Scene:
    """A conversation whose last request is tried in other forms: what all findings about that request have in common.

    Several findings lead to the same forms, so what was found in a form is kept: of the last `MAX_FORMS`. `remembered`,
    `shared`: what was found of messages that several forms have. `helped`: the rules for which the last form did.
    `moved`: what fixes findings that were fixed together with one that is alike.
    """

    def __init__(self, conversation: Conversation, profile: Profile | None, as_of: str) -> None:
        self.conversation, self.profile, self.as_of = conversation, profile, as_of
        self._problem: ClientProblem | None = None
        self._forms: OrderedDict[bytes, _Form] = OrderedDict()
        self._translate = wires.Translator(presumed_wire(profile))
        self.remembered = Remembered()
        self.shared: dict[Any, Any] = {}
        self.helped: set[str] = set()
        self.moved: dict[_Key, ProvenPatch] = {}

    def problem(self, rule: str, finding: Finding) -> ClientProblem:
        """Return a finding about the last request as a problem."""
        if self._problem is None:
            translated = self.translated
            self._problem = ClientProblem(self.conversation, rule, finding, self.profile, self.as_of, translated)
        return self._problem.about(rule, finding)

    @cached_property
    def translated(self) -> Conversation:
        """Return the exchanges as those of chat completions."""
        # Of messages that forms have, too, the translated ones are the same objects.
        translated = tuple([self._translate(exchange) for exchange in self.conversation])
        same = all([one is other for one, other in zip(translated, self.conversation, strict=True)])
        return self.conversation if same else translated

    @cached_property
    def keeps_replies(self) -> bool:
        """Return whether an earlier exchange may be a part of the last one."""
        presumed = presumed_wire(self.profile)
        return any([wires.of(each, presumed).keeps_replies for each in self.conversation])

    @cached_property
    def before(self) -> _Found:
        """Return what is found in the conversation as it is."""
        return found_in(self.translated, self.profile, self.as_of)

    @cached_property
    def alike(self) -> dict[_Key, Sequence[str]]:
        """Return the places of findings of one rule that say the same at other positions, by what they share."""
        found: dict[_Key, list[str]] = {}
        for rule, place, message in self.before.each:
            found.setdefault((rule, _NUMBER.sub("*", place), message), []).append(place)
        return {key: sorted(places, key=_positions) for key, places in found.items()}

    @cached_property
    def content(self) -> HeldContent:
        """Return what the last request says as it is."""
        return content_of(self.translated[-1], self.remembered)

    @cached_property
    def known(self) -> str:
        """Return what earlier exchanges of the session say, requests and replies."""
        earlier = self.translated[:-1]
        if not earlier or self._problem is None:
            return ""
        said = [content_of(each, self.remembered).all_text for each in earlier]
        replies = [reply.message for reply in self._problem.index.replies if int(reply.place[0]) < len(earlier)]
        answers = Exchange.of_plain(request={"messages": replies})
        return "\n".join([*said, content_of(answers).all_text])

    def translated_alone(self, exchange: Exchange) -> Exchange:
        """Return an exchange translated without those before it, where no wire keeps replies."""
        return self._translate(exchange)

    def form(self, request: Any) -> _Form:
        """Return another form of the last request."""
        key = blake2b(rendered(request).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key in self._forms:
            self._forms.move_to_end(key)
        else:
            self._forms[key] = _Form(request, self)
            while len(self._forms) > MAX_FORMS:
                self._forms.popitem(last=False)
        return self._forms[key]


class Scenes:
    """The scenes of one input, the last ones of which are kept."""

    def __init__(self, given: Conversation = (), found: Sequence[Outcome] = (), *, for_one: bool = False) -> None:
        """Begin without any.

        `given`: the exchanges of the input, if all rules judged them, and what they `found`. `for_one`: whether only
        one finding is fixed, so that none is fixed together with others.
        """
        self._scenes: OrderedDict[Any, Scene] = OrderedDict()
        # Which exchange the findings are in that are not listed, or broke a rule, is not known of several.
        is_whole = len(given) == 1 or not any(map(_is_partial, found))
        self._given, self._found, self._for_one = given if is_whole else (), found, for_one

    def of(self, key: Any, conversation: Conversation, profile: Profile | None, as_of: str) -> Scene:
        """Return the scene of a conversation; `key` names its exchanges among those of the input."""
        if key not in self._scenes:
            scene = self._scenes[key] = Scene(conversation, profile, as_of)
            if self._for_one:
                scene.alike = {}
            if self._begins_with(conversation):
                known = rules.by_id()
                # Suites provoke what some rules find, and so do fixes not look at it.
                found = [each for each in self._found if not known[each.rule].provoked]
                scene.before = _read(found, len(conversation))
            while len(self._scenes) > MAX_SCENES:
                self._scenes.popitem(last=False)
        return self._scenes[key]

    def _begins_with(self, conversation: Conversation) -> bool:
        """Return whether the input begins with these very exchanges: what follows changes nothing about them."""
        pairs = zip(conversation, self._given, strict=False)
        return len(conversation) <= len(self._given) and all([one is other for one, other in pairs])

    def proven(self, key: Any, rule: str, finding: Finding) -> ProvenPatch | None:
        """Return what fixes a finding of a scene if it was fixed together with others; None if it was not."""
        scene = self._scenes.get(key)
        return None if scene is None else scene.moved.get(_key(rule, finding))


class Trial:
    """One finding, and the conversation in which forms of its request are tried. `tried`: how many were judged."""

    def __init__(self, scene: Scene, rule: str, finding: Finding) -> None:
        self.problem = scene.problem(rule, finding)
        self.tried = 1
        self._scene = scene
        self.place = finding.at.partition("/request")[2]
        self._key = _key(rule, finding)
        self._before = scene.before

    @property
    def moved(self) -> "ProvenPatch | None":
        """Return what fixes the finding if it was fixed together with one that is alike; None if not."""
        return self._scene.moved.get(self._key)

    def take_alike(self) -> Sequence[str]:
        """Return the places in the request of the findings that differ from this one by their position alone, once."""
        rule, place, message = self._key
        return self._scene.alike.pop((rule, _NUMBER.sub("*", place), message), ())

    def of(self, place: str) -> "Trial":
        """Return the trial of the finding at another of these places."""
        head, request, _ = self.problem.finding.at.partition("/request")
        return Trial(self._scene, self._key[0], replace(self.problem.finding, at=f"{head}{request}{place}"))

    def keep(self, found: Mapping[str, "ProvenPatch"]) -> None:
        """Keep what fixes the findings at some of these places."""
        rule, _, message = self._key
        self._scene.moved |= {(rule, place, message): held for place, held in found.items()}

    @property
    def sees_the_finding(self) -> bool:
        """Return whether the conversation has the finding at all: it may need more of the session."""
        return self._key in self._before.each

    def operations(self, candidate: Candidate) -> Sequence[Operation]:
        """Return how a form of the request differs from the request."""
        return self._scene.form(candidate.request).operations

    def accepts(self, candidate: Candidate) -> bool:
        """Return whether a form of the request lacks the finding, has no new one, and loses nothing."""
        form = self._scene.form(candidate.request)
        if form.loss(candidate):
            return False
        self.tried += 1
        is_fit = self._is_fit(form)
        (self._scene.helped.add if is_fit else self._scene.helped.discard)(self._key[0])
        return is_fit

    def accepts_for_all(self, candidate: Candidate, places: Sequence[str]) -> bool:
        """Return whether a form of the request lacks the findings at all these places, as `accepts` says it of one."""
        form, (rule, _, message) = self._scene.form(candidate.request), self._key
        if form.loss(candidate):
            return False
        self.tried += 1
        gone = {(rule, place, message) for place in places}
        is_less = _of_rule(form.found, rule) <= _of_rule(self._before, rule) - len(gone)
        return is_less and gone.isdisjoint(form.found.each) and not form.found.counts - self._before.counts

    def _is_fit(self, form: _Form) -> bool:
        rule = self._key[0]
        # Where the last form was without the finding, this one will be, too, and all rules are asked at once.
        own = form.found if rule in self._scene.helped else form.of_rule(rule)
        if self._key in own.each or _of_rule(own, rule) >= _of_rule(self._before, rule):
            return False
        return not form.found.counts - self._before.counts


def carried(exchange: Exchange, before: Any, after: Any) -> Exchange:
    """Return an exchange of the session whose request has what changed in another, where both were the same."""
    request = exchange.request
    key = next((each for each in LISTS if isinstance(as_object(before).get(each), list)), "")
    if not key or not all(isinstance(as_object(each).get(key), list) for each in (request, after)):
        return exchange
    same = shared_length(request[key], before[key])
    if same == len(before[key]):
        # Most requests add to the one before, and comparing whole histories takes the square of a session's length.
        return with_request(exchange, {**request, key: [*after[key], *request[key][same:]]})
    changes = [each for each in difference(before[key], after[key]) if int(parse(each["path"])[0]) < same]
    return with_request(exchange, {**request, key: apply(request[key], changes)}) if changes else exchange


def found_in(conversation: Conversation, profile: Profile | None, as_of: str) -> _Found:
    """Return the findings about the last exchange of a conversation, its reply included."""
    return _read(judge_last(conversation, profile, rules.load(), as_of).found(), len(conversation))


def _found(index: Index, scene: Scene, chosen: Sequence[Rule]) -> _Found:
    return _read(judgement_of_last(index, scene.profile, chosen, scene.as_of).found(), len(index.conversation))


def _read(outcomes: Iterable[Outcome], exchanges: int) -> _Found:
    last = f"/{exchanges - 1}"
    counts: Counter[tuple[str, str]] = Counter()
    each: set[tuple[str, str, str]] = set()
    for outcome in outcomes:
        if outcome.status is Status.ERRORED:
            counts[outcome.rule, "errored"] += 1
        for finding in outcome.findings:
            if (more := _MORE.fullmatch(finding.message)) is not None:
                counts[outcome.rule, "more"] += int(more[1])
            elif finding.at == last or finding.at.startswith(f"{last}/"):
                counts[outcome.rule, finding.level.value] += 1
                each.add((outcome.rule, finding.at.partition("/request")[2], finding.message))
    return _Found(counts, frozenset(each))


def _is_partial(outcome: Outcome) -> bool:
    is_cut = bool(outcome.findings) and _MORE.fullmatch(outcome.findings[-1].message) is not None
    return is_cut or outcome.status is Status.ERRORED


def _key(rule: str, finding: Finding) -> _Key:
    return rule, finding.at.partition("/request")[2], finding.message


def _positions(place: str) -> list[int]:
    return [int(each) for each in _NUMBER.findall(place)]


def _of_rule(found: _Found, rule: str) -> int:
    return sum([count for (name, _), count in found.counts.items() if name == rule])
