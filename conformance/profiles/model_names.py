"""Names of models across providers: which entries of a profile are about the same model, and how a host spells it.

Hosts write one model in many ways: `deepseek-ai/DeepSeek-V4-Flash`, `accounts/fireworks/models/deepseek-v4-flash`,
`us.anthropic.claude-haiku-4-5-20251001-v1:0`, `gpt-oss:120b`. Two names mean the same model if their keys are equal.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from conformance.profiles.claims import Profile, fits_glob

_REGION: Final = re.compile(r"^(?:[a-z]+\.)+(?=[a-z])")
"""Where a model comes from and whose it is, as Bedrock writes it before the name."""
_VARIANT: Final = re.compile(r":(?:[a-z]+|0)$")
"""What follows a name without being part of it: the `:free` of OpenRouter, the version of Bedrock."""
_POINT: Final = re.compile(r"(?<=\d)p(?=\d)")
"""How Fireworks writes the point of a version: `glm-5p3`."""
_VERSION: Final = re.compile(r"(?<=\d)[.-](?=\d)")
_EDITION: Final = re.compile(r"[-:](?:instruct|preview|latest|chat|exp|it|\d{3,8})(?![a-z])")
"""What follows the name of a model without making it another one: a date, or how it was trained."""
_LINE: Final = re.compile(r"[a-z]{3,}-(?=\d)")
"""The line of a model before its version: `opus-` of `opus-4.5`."""
_SEPARATORS: Final = re.compile(r"[^a-z0-9*?]+")
_MAX_KEYS: Final = 4096
_LONGEST_KEPT: Final = 256


def base(model: str) -> str:
    """Return the last part of a model's path, without what precedes or follows the name."""
    text = model.strip().rpartition("/")[2]
    return _VARIANT.sub("", _REGION.sub("", text))


def key(model: str) -> str:
    """Return what all spellings of a model, or of a glob of models, have in common."""
    # A file or a peer chooses the name, and may hold megabytes.
    return _common(model) if len(model) > _LONGEST_KEPT else _kept(model)


@lru_cache(maxsize=_MAX_KEYS)
def _kept(model: str) -> str:
    return _common(model)


def _common(model: str) -> str:
    return _SEPARATORS.sub("", _POINT.sub(".", base(model.lower())))


def served_name(profile: Profile, model: str, *, is_own: bool = False) -> str:
    """Return how a provider calls a model that it is known to serve; empty if nothing says that it does.

    A glob says so only if it names a version or a line of models: `llama*` is about whatever is served. `is_own`: it
    is the vendor of this model, which serves all of its own.
    """
    if _is_spelled(_entries(profile), model):
        return model
    wanted = key(model)
    for each in (profile, *profile.protocols.values()):
        if wanted and wanted == key(each.model):
            return each.model
    entries = [each for each in _entries(profile) if _names_line(each)]
    found = _as_entry(entries, model)
    return found or (in_full(profile, model) or slug(model) if is_own else _snapshot(entries, wanted))


def may_serve(profile: Profile, model: str) -> str:
    """Return how a provider calls a model of which it is only known to serve the family; empty if it does not."""
    # Of a family of one letter, the models have a number: `off` is none of `o*`, and o5 is.
    least = 1 if base(model)[1:2].isdigit() else 2
    return _as_entry([each for each in _entries(profile) if len(key(each).strip("*")) >= least], model)


def spelled(profile: Profile, model: str, *, is_own: bool = False) -> str:
    """Return how a provider spells a model, as far as its profile shows; otherwise the name as it was given."""
    return served_name(profile, model, is_own=is_own) or slug(model)


def begins_one(profile: Profile, word: str) -> bool:
    """Return whether a profile has a model whose name begins with a word, such as `magistral`."""
    return any(base(entry).lower().startswith(word.lower()) for entry in _entries(profile))


def in_full(profile: Profile, model: str) -> str:
    """Return a model with what its vendor writes before it, as in `claude-sonnet-4-6` for Sonnet 4.6; empty if unknown.

    Another model of the same line shows it: `claude-opus-4-6` that Opus 4.5 is `claude-opus-4.5`.
    """
    given = slug(base(model)).lower()
    line = _LINE.match(given)
    called = [each.model for each in (profile, *profile.protocols.values())]
    names = [each.rstrip("*") for each in (*called, *_entries(profile)) if line and f"-{line[0]}" in each]
    same = [each for each in names if key(each).endswith(key(given))]
    return next(iter(same), "") or next((f"{each.partition(f'-{line[0]}')[0]}-{given}" for each in names if line), "")


def fits_any(entries: Collection[str], model: str) -> bool:
    """Return whether a model may be one of these, so that their profile is worth loading to see how it is served."""
    wanted = key(model)
    is_one = any(wanted == key(each) or each.endswith("/*") for each in entries)
    return is_one or _is_spelled(entries, model) or bool(_as_entry(entries, model) or _snapshot(entries, wanted))


def _is_spelled(entries: Iterable[str], model: str) -> bool:
    """Return whether a model with its folder is already in the spelling of an entry, variant and all."""
    return "/" in model and any(fits_glob(model.lower(), each.lower()) for each in entries)


def slug(model: str) -> str:
    """Return a model's name as APIs write one: a name with spaces, such as a title, in lower case with hyphens."""
    text = model.strip()
    return "-".join([word.removesuffix("'s") for word in text.lower().split()]) if " " in text else text


def _entries(profile: Profile) -> dict[str, None]:
    return dict.fromkeys([entry.name for each in (profile, *profile.protocols.values()) for entry in each.models])


def _names_line(entry: str) -> bool:
    """Return whether an entry names more than a family: a version (`deepseek-v4*`), or a line (`gpt-oss*`)."""
    name = base(entry).strip("*-")
    return "-" in name or any(map(str.isdigit, name))


def _as_entry(entries: Iterable[str], model: str) -> str:
    """Return a model in the spelling of the first entry that it matches; empty if it matches none."""
    given = slug(base(model)).lower()
    # Versions are written 4.6, 4p6 or 4-6. The last comes last, because gpt-5-* does not mean gpt-5.4.
    ways = dict.fromkeys([given, _POINT.sub(".", given), *[_VERSION.sub(mark, given) for mark in (".", "p", "-")]])
    end = max([found.end() for found in _VERSION.finditer(given)], default=0)
    held = list(entries)
    # An entry of this very version comes first: Opus 5.5 is in claude-opus-5-5*, and would be in claude-opus-5*.
    exact = [each for each in held if len(each.lower().rpartition("/")[2].partition("*")[0]) > end > 0]
    for way, entry in [(way, entry) for some in (exact, held) for way in ways for entry in some]:
        folder, slash, name = entry.lower().rpartition("/")
        if fits_glob(way, name):
            prefix = "" if "*" in folder else entry[: len(folder) + len(slash)]
            return entry if "*" not in entry else f"{prefix}{way}"
    return ""


def _snapshot(entries: Iterable[str], wanted: str) -> str:
    """Return the shortest name of what was given with a date or a word after it, such as `kimi-k2-instruct*`."""
    found = []
    for entry in entries:
        name = base(entry).rstrip("*").lower()
        cut = next((at for at in range(len(name)) if key(name[:at]) == wanted), 0)
        if wanted and cut and "*" not in name and _EDITION.match(name, cut):
            found.append(entry.rstrip("*"))
    return min(found, key=len, default="")
