"""What tells quickly that texts hold no secret is right whenever it says so, and changes nothing of what is removed."""

import json
import re
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.formats.records import date_of
from conformance.secrets import names, scrubber
from conformance.secrets.texts import hints
from tests.loops import every

SECRET = "Kx81-qLm_22-vB9z"
SHAPED = "sk-proj-abcDEF0123456789abcDEF"
PIECES = (
    "key", "KEY", "api", "_", "-", "--", " ", "=", ":", '"', '\\"', "\\", "'", "value", "token", "Headers", "params",
    "query", "b64", "auth", "secret", "passwort", "cookie", "cred", "bearer ", "jwt", "pwd", "\u212aey", "\u017fecret",
    "\u0130", "co\u0131kie", "x", "1", "%3D", "%253d", "\\u006b", "\\/", "-u ", "--user=", "login ", "form-data; name",
    "AWS4-HMAC", "\n", "> ", "?", "&", "://a@b", SHAPED, SECRET, SECRET[:9], "{", "}", "[", ",", "é", "max_tokens",
    "X-Api-Key", "signature", "expected the ", "data: ", '"delta"',
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)

# The names that a text has before values and as options, without what finds them quickly.
NAME = re.compile(r"(?<![\w$-])([A-Za-z][\w-]{1,63})(?:\\*[\"'])?[ \t]*[:=]")
OPTION = re.compile(r"(?<![\w-])--?([A-Za-z][\w-]{1,63})[ \t\"']")
FURTHER = re.compile(r"(?<![\w-])(?:-u|--user|--proxy-user)[ =]|AWS4-HMAC|insecure-api-key|\blogin\s|form-data; name")


@given(text=texts)
def test_a_text_with_the_name_of_a_secret_is_never_passed_over(text: str) -> None:
    said = {*NAME.findall(text), *OPTION.findall(text)}
    if any(map(names.is_secret, said)) or any(each.lower().endswith("headers") for each in said):
        assert hints(text, ()).named
    if FURTHER.search(text):
        assert hints(text, ()).named


@given(texts=st.lists(texts, max_size=40), secrets=st.sampled_from([(), (SECRET,), (SECRET, "pass\nword-77")]))
def test_texts_that_are_passed_over_together_have_no_secret_each(texts: list[str], secrets: tuple[str, ...]) -> None:
    one, other = scrubber(secrets), scrubber(secrets)
    suspects = one.suspects(texts)
    expected = [other.text(each) for each in texts]
    assert expected == [one.text(each) if each in suspects else each for each in texts]


@given(
    around=st.lists(texts, max_size=30),
    at=st.integers(0, 30),
    form=st.sampled_from(
        [
            SECRET,
            SHAPED,
            f'{{"api_key": "{SECRET}"}}',
            json.dumps(json.dumps({"password": SECRET})),
            f"Authorization: Bearer {SECRET}",
            f"https://h/x?api_key={SECRET}",
            SECRET.replace("-", "\\u002d"),
            SECRET.replace("_", "%5F"),
            f"serve --api-key {SECRET}",
        ]
    ),
)
def test_a_planted_secret_is_suspected_wherever_it_stands(around: list[str], at: int, form: str) -> None:
    secrets = scrubber([SECRET])
    given = [*around[:at], form, *around[at:]]
    assert form in secrets.suspects(given)
    assert SECRET not in secrets.text(form)


@every("text", ["key" * 30_000, 'value: "' + "key" * 20_000, "key " * 30_000, "-a" * 50_000, '"key' * 30_000])
def test_hints_of_a_hostile_text_take_no_square(text: str) -> None:
    assert not hints(text, ()).named


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Foo"]


@given(
    day=st.integers(0, 32),
    month=st.sampled_from(MONTHS),
    year=st.sampled_from([1999, 2024, 2026]),
    hour=st.integers(0, 25),
    second=st.integers(0, 61),
    zone=st.sampled_from(["GMT", "+0200"]),
)
def test_the_day_of_a_header_is_what_the_library_reads(
    day: int, month: str, year: int, hour: int, second: int, zone: str
) -> None:
    text = f"Sat, {day:02} {month} {year} {hour:02}:00:{second:02} {zone}"
    try:
        expected = parsedate_to_datetime(text).date().isoformat()
    except (IndexError, TypeError, ValueError):
        expected = ""
    assert expected == date_of(text)


@pytest.mark.parametrize("text", ["", "Foo", "0"])
def test_a_text_without_a_day_has_none(text: str) -> None:
    assert "" == date_of(text)
