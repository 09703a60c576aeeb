"""The four core facts of a provider as answers: the values of the claims behind them, and on what each rests."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from conformance.core_facts import CoreFact, core_facts
from conformance.profiles import UNKNOWN, Model, Profile, rejects_or_damages, retired, tolerates
from conformance.reporting.answers import ASSUMED, EVIDENCE_WORDS, Answers, Meaning, Question, SubjectAnswer, worst
from conformance.reporting.answers.observed import LastSeen, last_seen
from conformance.reporting.answers.wires import REASONING, TRANSLATED
from conformance.reporting.matrix.table import CLAIMS, Inputs, claim_evidence
from conformance.results import Evidence, Verdict
from conformance.results.calibration import counts
from conformance.results.runs import Results

QUESTIONS: Final = (
    Question("field", "Rea\u00adsoning field", "Which field carries the reasoning, in replies and in requests?"),
    Question("omitted", "Rea\u00adsoning omitted", "What happens if a request omits reasoning, and in which turns?"),
    Question("ids", "Call ids", "Are tool call ids unique, or do they repeat?"),
    Question("order", "Result order", "Does the order of tool results matter?"),
)
"""The questions, in the order of the core facts."""

_RESPONSE, _REQUEST = "reasoning.response-field", "reasoning.request-field"
_IN_REPLY, _UNIQUE = "ids.unique-in-reply", "ids.unique-in-conversation"
_OPTIONAL: Final = "ids.optional"
_REVERSED, _PARALLEL, _TOOLS = "results.reversed", "tools.parallel", "tools.supported"
_CANONICAL: Final = "reasoning_content"
_MAX_MODELS: Final = 3
"""How many models a note names."""

_NOTHING: Final = ("none", "no reasoning", "no tools")
"""Values of models to which a question does not apply."""

_VARYING: Final = re.compile(r"(?:\\[dw]|\[[^\]]*\]|\([^()]*\))(?:\{[\d,]*\}|[+*?])?")
"""A part of a pattern that stands for any of some characters."""

_CURRENT: Final = "reasoning.omitted-on-tool-turn"
_EARLIER: Final = "reasoning.omitted-on-earlier-tool-turn"
_PLAIN: Final = "reasoning.omitted-on-plain-turn"
_EMPTY: Final = "reasoning.empty-on-tool-turn"
_ALTERED: Final = "reasoning.altered"

_UNSIGNED: Final = "signature.omitted"
"""The claim about a signature that is not sent back."""

_TURNS: Final = (_CURRENT, _EARLIER, _PLAIN)
"""The claims about omitted reasoning, by turn."""


class _Note(NamedTuple):
    """A note, and the claim that it rests on; empty if that is the claim of the value."""

    text: str
    claim: str = ""


class _ClaimedValue(NamedTuple):
    """The value of a fact for one model: in a few characters, its meaning, the claim that it rests on, and notes."""

    value: str
    meaning: Meaning
    claim: str
    notes: tuple[_Note, ...] = ()


class _Fact(NamedTuple):
    """How claims answer a question, and the claims that may differ for single models."""

    claims: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], _ClaimedValue]


def provider_answers(inputs: Inputs) -> Iterator[Answers]:
    """Yield the answers of each provider, and of each further model that was played, ordered by name."""
    for results in sorted(inputs.results, key=lambda each: each.name):
        if not results.provider:
            yield Answers(results.name, inputs.profile_of(results).wire, tuple(_answers(results, inputs)))


def _answers(results: Results, inputs: Inputs) -> Iterator[SubjectAnswer]:
    profile = inputs.profile_of(results)
    if results.claims:
        profile = profile.with_claims({name: claim.value for name, claim in results.claims.items()})
    calibration = inputs.calibration.get(profile.name, {})
    claims = profile.at(results.model, "")
    for fact, played in zip(_FACTS, core_facts(results.cases, claims), strict=True):
        found = _natively(fact.read(claims), profile.wire)
        others = {} if results.further else _others(profile, fact, results.model, found.value)
        failed = played.verdict in (Verdict.BREAKS, Verdict.ERRORED)
        resting = _Rests(profile, calibration, results.model)
        notes = (*resting.notes(found), *_named(others), *(["check failed"] if failed else []))
        meaning = Meaning.BREAKS if failed else _with_others(found.meaning, others)
        if results.mine:
            yield _observed(found, played)
            continue
        differ = tuple([(tuple(models), other.value) for other, models in others.items()])
        answer = SubjectAnswer(found.value, meaning, notes, others=differ)
        yield resting.answer(answer, found.claim, played)


def model_answers(profile: Profile, calibration: Mapping[str, Any], model: str) -> Iterator[SubjectAnswer]:
    """Yield the answers of a provider for one of its models, which nobody need have played: those of its claims."""
    claims = profile.at(model)
    resting = _Rests(profile, calibration, model)
    for fact in _FACTS:
        found = _natively(fact.read(claims), profile.wire)
        yield resting.answer(SubjectAnswer(found.value, found.meaning, tuple(resting.notes(found))), found.claim)


def _observed(found: _ClaimedValue, played: CoreFact) -> SubjectAnswer:
    """Return the answer of a reader's own endpoint: what it showed, on no other evidence than that of its run."""
    evidence = played.evidence[0] if played.evidence else ""
    if played.verdict in (Verdict.CONFORMS, Verdict.DECLARED):
        return SubjectAnswer(found.value, found.meaning, tuple([note.text for note in found.notes]), evidence)
    seen = (f"observed: {played.observed}",) if played.observed else ()
    if played.verdict in (Verdict.BREAKS, Verdict.ERRORED):
        return SubjectAnswer("not as claimed", Meaning.BREAKS, (f"claimed: {found.value}", *seen), evidence)
    return SubjectAnswer(UNKNOWN, Meaning.UNKNOWN, (played.verdict.value, *seen))


def _with_others(meaning: Meaning, others: Mapping[_ClaimedValue, Sequence[str]]) -> Meaning:
    """Return the meaning of an answer that differs for some models: what breaks there is to beware of here."""
    bad = any(each.meaning in (Meaning.BREAKS, Meaning.BEWARE) for each in others)
    return worst([meaning, Meaning.BEWARE]) if bad else meaning


def _others(profile: Profile, fact: _Fact, shown: str, value: str) -> dict[_ClaimedValue, list[str]]:
    """Return the values of the fact that some models have instead of the one that is shown, with those models."""
    found: dict[_ClaimedValue, list[str]] = {}
    # If the shown model is the exception, each other model has what holds in general.
    is_exception = any(_makes(model, fact) for model in profile.models if model.matches(shown.lower()))
    for model in profile.models:
        if retired(model.lifecycle, profile.as_of) or model.matches(shown.lower()):
            continue
        if not (is_exception or _makes(model, fact)):
            continue
        read = _natively(fact.read(profile.at(model.name.replace("*", ""))), profile.wire)
        if read.value not in (value, *_NOTHING) and read.meaning is not Meaning.UNKNOWN:
            found.setdefault(read._replace(notes=()), []).append(model.name)
    return found


def _makes(model: Model, fact: _Fact) -> bool:
    return any(name in model.claims for name in fact.claims)


def _named(others: Mapping[_ClaimedValue, Sequence[str]]) -> Iterator[str]:
    for found, models in others.items():
        more = f" and {len(models) - _MAX_MODELS} more" if len(models) > _MAX_MODELS else ""
        yield f"on {', '.join(models[:_MAX_MODELS])}{more}: {found.value}"


class _Rests(NamedTuple):
    """On what the claims of a profile rest for a model, by a calibration."""

    profile: Profile
    calibration: Mapping[str, Any]
    model: str

    def answer(self, answer: SubjectAnswer, name: str, played: CoreFact | None = None) -> SubjectAnswer:
        """Return an answer with what it rests on: the evidence of its claim."""
        claim = self.profile.claim(name, self.model)
        if claim is None:
            return _assumed(answer, played)
        counted = counts(self.calibration, self.profile, name, self.model)
        read = max([source.read or source.searched for source in claim.source], default="")
        contested = bool(claim.disagrees or counted.contradicted)
        confirmed = counted.confirmed or counted.engine
        found = "" if answer.value == UNKNOWN else self.evidence(name)
        last = last_seen(self.calibration, self.profile, name, self.model) if counted.confirmed else LastSeen()
        answer = replace(answer, evidence=found, count=confirmed, read=read, row=f"{CLAIMS}/{name}")
        return replace(answer, seen=last.day, seen_model=last.model, contested=contested)

    def evidence(self, name: str) -> str:
        """Return the kind of evidence of a claim, `assumed` if nobody makes it."""
        claim = self.profile.claim(name, self.model)
        if claim is None:
            return ASSUMED
        counted = counts(self.calibration, self.profile, name, self.model)
        return claim_evidence(self.profile, claim, counted, claim.value)[1]

    def notes(self, found: _ClaimedValue) -> Iterator[str]:
        """Yield the notes of a value; one that rests on other evidence says so, lest it is taken as seen."""
        own = self.evidence(found.claim)
        for note in found.notes:
            kind = self.evidence(note.claim) if note.claim else own
            yield note.text if kind == own else f"{note.text} ({EVIDENCE_WORDS[kind]})"


def _assumed(answer: SubjectAnswer, played: CoreFact | None) -> SubjectAnswer:
    """Return an answer without a claim: what an engine showed, or what nobody looked at."""
    if answer.value == UNKNOWN:
        return answer
    if played and played.verdict is Verdict.CONFORMS and Evidence.ENGINE in played.evidence:
        return replace(answer, evidence=Evidence.ENGINE.value)
    meaning = Meaning.UNKNOWN if answer.meaning is Meaning.WORKS else answer.meaning
    return replace(answer, meaning=meaning, evidence=ASSUMED)


def _field(claims: Mapping[str, Any]) -> _ClaimedValue:
    reply, back = (_words(claims.get(name, _CANONICAL)) for name in (_RESPONSE, _REQUEST))
    sent = _Note(_sent_back(back, claims), _REQUEST)
    if reply == UNKNOWN:
        return _ClaimedValue(reply, Meaning.UNKNOWN, _RESPONSE, (sent,) if back != UNKNOWN else ())
    if reply == "none":
        return _ClaimedValue("none", Meaning.WORKS, _RESPONSE, (_Note("replies carry no reasoning"),))
    notes = () if back == reply else (sent,)
    return _ClaimedValue(reply, Meaning.WORKS if reply == _CANONICAL == back else Meaning.BEWARE, _RESPONSE, notes)


def _sent_back(back: str, claims: Mapping[str, Any]) -> str:
    """Return what to send back; where no text is read, a signature may still be required."""
    if back == UNKNOWN:
        return "what to send back is unknown"
    if back == "none":
        signed = rejects_or_damages(claims.get(_UNSIGNED, UNKNOWN))
        return "send back the signatures, not the text" if signed else "send back no text"
    return f"send back {back}"


def _natively(found: _ClaimedValue, wire: str) -> _ClaimedValue:
    """Return a value as another wire calls it; reasoning that is where this wire has it works as it is."""
    if wire not in REASONING:
        return found
    name = REASONING[wire]

    def renamed(text: str) -> str:
        return text.replace(TRANSLATED, name).replace(_CANONICAL, name)

    notes = tuple([note._replace(text=renamed(note.text)) for note in found.notes])
    value = renamed(found.value)
    is_own = value == name and not notes
    return found._replace(value=value, meaning=Meaning.WORKS if is_own else found.meaning, notes=notes)


def _omitted(claims: Mapping[str, Any]) -> _ClaimedValue:
    if claims.get(_RESPONSE) == "none" and not rejects_or_damages(claims.get(_UNSIGNED, UNKNOWN)):
        return _ClaimedValue("no reasoning", Meaning.WORKS, _RESPONSE)
    return _ClaimedValue(*_worst_omission(claims))


def _ids(claims: Mapping[str, Any]) -> _ClaimedValue:
    form, twice = claims.get("ids.format", UNKNOWN), _handled(claims.get("ids.duplicate-in-request", UNKNOWN))
    shape = "" if form == UNKNOWN else _shape(form)
    notes = (
        *([_Note(shape, "ids.format")] if shape else []),
        *([] if twice in (UNKNOWN, "accepted") else [_Note(f"duplicates: {twice}", "ids.duplicate-in-request")]),
    )
    if claims.get(_OPTIONAL) is True:
        return _ClaimedValue("optional", Meaning.BEWARE, _OPTIONAL, (*notes, _Note("else paired by name and order")))
    if claims.get(_IN_REPLY) is False:
        return _ClaimedValue("repeat in a reply", Meaning.BREAKS, _IN_REPLY, notes)
    unique = claims.get(_UNIQUE, True)
    if unique == UNKNOWN:
        return _ClaimedValue(UNKNOWN, Meaning.UNKNOWN, _UNIQUE, notes)
    return _ClaimedValue(*(("unique", Meaning.WORKS) if unique else ("restart", Meaning.BREAKS)), _UNIQUE, notes)


def _order(claims: Mapping[str, Any]) -> _ClaimedValue:
    if claims.get(_TOOLS) is False:
        return _ClaimedValue("no tools", Meaning.WORKS, _TOOLS)
    if claims.get(_PARALLEL) is False:
        return _ClaimedValue("one call", Meaning.WORKS, _PARALLEL, (_Note("no parallel calls"),))
    handled = claims.get(_REVERSED, UNKNOWN)
    if tolerates(handled):
        return _ClaimedValue("any order", Meaning.WORKS, _REVERSED)
    if handled == UNKNOWN:
        return _ClaimedValue(UNKNOWN, Meaning.UNKNOWN, _REVERSED, (_Note("keep call order"),))
    return _ClaimedValue(_handled(handled), Meaning.BREAKS, _REVERSED, (_Note("call order required"),))


def _handled(value: Any) -> str:
    """Return how a provider handles a deviation: the status of a refusal, or the word of the claim."""
    return str(value["status"]) if isinstance(value, Mapping) and "status" in value else _words(value)


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _shape(value: Any) -> str:
    """Return the first pattern of ids, with an ellipsis for what varies: `call_…`; empty if all of it varies."""
    first = value[0] if isinstance(value, list) else value
    shown = re.sub(r"…[…_-]*…|…+", "…", _VARYING.sub("…", first).replace("\\", ""))
    return shown if shown[:1].isalpha() else ""


_FACTS: Final = (
    _Fact((_RESPONSE, _REQUEST), _field),
    _Fact((*_TURNS, _UNSIGNED), _omitted),
    _Fact((_IN_REPLY, _UNIQUE, _OPTIONAL), _ids),
    _Fact((_REVERSED, _PARALLEL), _order),
)


def _worst_omission(claims: Mapping[str, Any]) -> tuple[str, Meaning, str, tuple[_Note, ...]]:
    """Return the worst handling of omitted reasoning, its meaning, its claim, and the turns in which it happens."""
    found = {name: claims.get(name, UNKNOWN) for name in _TURNS}
    bad = [name for name, value in found.items() if rejects_or_damages(value)]
    if bad:
        return _word(found[bad[0]]), Meaning.BREAKS, bad[0], (_Note(_turns(bad, found), bad[-1]), *_also(claims))
    unsigned = claims.get(_UNSIGNED, UNKNOWN)
    if rejects_or_damages(unsigned):
        return _word(unsigned), Meaning.BREAKS, _UNSIGNED, (_Note("signatures of calls"), *_also(claims))
    if tolerates(found[_CURRENT]):
        return str(found[_CURRENT]), Meaning.WORKS, _CURRENT, tuple(_also(claims))
    return UNKNOWN, Meaning.UNKNOWN, _CURRENT, tuple(_also(claims))


def _turns(bad: list[str], found: Mapping[str, Any]) -> str:
    if len(bad) == len(found):
        return "every turn"
    if _PLAIN in bad:
        return "plain turns" if len(bad) == 1 else "tool turns and plain turns"
    if _EARLIER in bad:
        return "every tool turn" if _CURRENT in bad else "earlier tool turns"
    return "current tool turn" + (", earlier ones unknown" if found[_EARLIER] == UNKNOWN else "")


def _also(claims: Mapping[str, Any]) -> Iterator[_Note]:
    """Yield what is rejected or damaged if reasoning is emptied or changed."""
    for words, name in (("empty", _EMPTY), ("changed", _ALTERED)):
        value = claims.get(name, UNKNOWN)
        if rejects_or_damages(value):
            yield _Note(f"{words}: {_word(value)}", name)


def _word(value: Any) -> str:
    return str(value["status"]) if isinstance(value, Mapping) and "status" in value else str(value)
