import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.documents import BOUNDS, Bounds, Document, parse_json, parse_yaml, read_json, read_yaml, yaml_values
from conformance.errors import InvalidDocument
from conformance.resources import folder
from tests.loops import every

BYTES = folder("fixtures") / "bytes"
DEEP = "/a/0/0/0/0/0/0/0"

JSON_FAULTS = {
    "bad-escape.json": (2, "/1", "expected a JSON escape, got '\\\\x'"),
    "big-exponent.json": (2, "/temperature", "a number that fits in a double, got 1e400"),
    "big-integer-negative.json": (3, "/1", "at most 64 bits, got -9223372036854775809"),
    "big-integer.json": (2, "/created", "at most 64 bits, got 18446744073709551616"),
    "blank.json": (1, None, "got an empty text"),
    "byte-order-mark.json": (1, None, "got a byte order mark"),
    "comment.json": (1, "", "expected a key in double quotes, got '/'"),
    "control-character.json": (1, "/a/1", "expected control characters escaped, got '\\n'"),
    "deep.json": (2, DEEP, "at most 254 nested"),
    "duplicate-key-and-colon.json": (2, "/a", "got 'a' again (first on line 1)"),
    "duplicate-key-escaped.json": (2, "/a/b~1c", "got 'b/c' again (first on line 1)"),
    "duplicate-key.json": (5, "/messages/0/role", "got 'role' again (first on line 4)"),
    "empty.json": (1, None, "got an empty text"),
    "infinity.json": (2, "/1", "got -Infinity, which is not JSON"),
    "invalid-utf8-outside.json": (2, "", "got the byte 0xFF, which is not UTF-8"),
    "invalid-utf8.json": (2, "/b/0", "got the byte 0xE9, which is not UTF-8"),
    "leading-zero.json": (2, "/a", "expected a value, got '007'"),
    "lone-surrogate-key.json": (2, "", "expected a pair of surrogates, got U+DC00 alone"),
    "lone-surrogate.json": (2, "/messages/0/content", "expected a pair of surrogates, got U+D83D alone"),
    "nan.json": (2, "/usage/total_tokens", "got NaN, which is not JSON"),
    "single-quotes.json": (2, "", 'expected a key in double quotes, got "\'"'),
    "trailing-comma.json": (3, "/messages/1", "expected a value, got ']'"),
    "truncated-object.json": (2, "/choices/0", "got the end of the text"),
    "truncated.json": (2, "/choices/0/message/content", "expected the end of a string, got the end of the text"),
    "two-values.json": (2, "", "expected the end of the text, got '{'"),
}

YAML_FAULTS = {
    "alias-bomb.yaml": (2, "/b/0", "expected no alias, got *a"),
    "alias-of-itself.yaml": (3, "/a/1", "expected no alias, got *a"),
    "alias.yaml": (3, "/other/0", "expected no alias, got *base"),
    "big-integer.yaml": (3, "/a/1", "at most 64 bits, got 18446744073709551616"),
    "control-character.yaml": (2, None, "expected printable characters"),
    "deep.yaml": (2, DEEP, "at most 254 nested"),
    "duplicate-key.yaml": (4, "/claims/reasoning", "got 'reasoning' again (first on line 2)"),
    "empty.yaml": (2, None, "got an empty text"),
    "invalid-utf8.yaml": (2, None, "got the byte 0xE9, which is not UTF-8"),
    "merge-key.yaml": (2, "/a", "expected no merge key"),
    "number-key.yaml": (2, "/a", "got 404; put it in quotes"),
    "tab.yaml": (2, None, "expected YAML, got: "),
    "tag.yaml": (2, "/b", "expected no tag, got 'tag:yaml.org,2002:timestamp'"),
    "two-documents.yaml": (2, None, "got a second one"),
    "unclosed.yaml": (2, None, "expected YAML, got: "),
}


@every("name", JSON_FAULTS)
def test_an_invalid_json_file_is_rejected_with_line_and_pointer(name: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_json(BYTES / name)
    line, pointer, message = JSON_FAULTS[name]
    assert (str(BYTES / name), line, pointer) == (caught.value.file, caught.value.line, caught.value.pointer)
    assert message in caught.value.message
    assert str(caught.value).startswith(f"{BYTES / name}:{line}:")


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize("name", YAML_FAULTS)
def test_an_invalid_yaml_file_is_rejected_with_line_and_pointer(
    name: str, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_values, "_LOADER", getattr(yaml, loader))
    with pytest.raises(InvalidDocument) as caught:
        read_yaml(BYTES / name)
    line, pointer, message = YAML_FAULTS[name]
    assert (str(BYTES / name), line, pointer) == (caught.value.file, caught.value.line, caught.value.pointer)
    assert message in caught.value.message


def test_every_malformed_file_is_in_a_table() -> None:
    expected = {*JSON_FAULTS, *YAML_FAULTS, "plain.yaml"}
    assert expected == {path.name for path in BYTES.iterdir() if path.suffix in {".json", ".yaml"}}


@every(
    "text",
    [
        '{"a":[1,-0.5,1e3,"x",null,true,false],"b":{}}',
        '{ "a" : [ 1 , 2 ] ,\r\n\t"b" : "a  b" }',
        '{"a": "\\u00e9\\u003a\\/\\ud83d\\ude00", "b:": ":", "c": "\\\\u003a"}',
        '{"id": "12345678901234567890", "created": 18446744073709551615, "least": -9223372036854775808}',
        '{"id": ["12345678901234567890, 12345678901234567890"], "p": 0.12345678901234567890, "\\u00e9": 1}',
        '{"a":{"a":{"a":1}},"":{"":1}}',
        "[" * BOUNDS.depth + "]" * BOUNDS.depth,
        '{"brackets": "' + "[{" * 300 + '"}',
        ' "x" ',
        "-0",
        "12345678901234567890.0",
    ],
)
def test_a_valid_text_has_the_value_that_the_standard_library_reads(text: str) -> None:
    assert json.loads(text) == parse_json(text)
    assert json.loads(text) == parse_json(text.encode())


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=60), inner),
    max_leaves=20,
)


FORMS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 2]),
        "separators": st.sampled_from([(",", ":"), (", ", ": ")]),
    }
)


@given(VALUES, FORMS)
def test_a_rendered_value_is_read_back(value: Any, form: dict[str, Any]) -> None:
    assert value == parse_json(json.dumps(value, **form))


class _RejectedError(Exception):
    """The oracle rejects a text."""


def _strict_oracle(text: str) -> Any:
    """Read a text with the standard library, made strict by hooks."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise _RejectedError
        return dict(pairs)

    def reject(_: str) -> Any:
        raise _RejectedError

    def whole(digits: str) -> int:
        if not -(2**63) <= int(digits) < 2**64:
            raise _RejectedError
        return int(digits)

    def decimal(digits: str) -> float:
        if abs(float(digits)) == float("inf"):
            raise _RejectedError
        return float(digits)

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=reject, parse_int=whole, parse_float=decimal)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, UnicodeEncodeError):
        raise _RejectedError from None
    return value


TOKENS = r"""{ } [ ] , : "a" "b" "\u0061" "\u003a" ":" 1 0.5 true NaN "\ud800" 18446744073709551616
    "9999999999999999999" 1e999 "é" \ -"""
TEXTS = st.lists(st.sampled_from([*TOKENS.split(), " ", "\n", '"\ud800"']), max_size=14).map("".join)
OBJECT_TEXTS = st.lists(st.tuples(st.sampled_from(['"a"', '"\\u0061"', '"b"']), TEXTS), max_size=3).map(
    lambda members: "{" + ",".join(f"{key}:{value or 1}" for key, value in members) + "}"
)


@given(TEXTS | OBJECT_TEXTS)
def test_texts_are_rejected_exactly_if_the_strict_oracle_rejects_them(text: str) -> None:
    try:
        expected = _strict_oracle(text)
    except _RejectedError:
        with pytest.raises(InvalidDocument) as caught:
            parse_json(text)
        assert isinstance(caught.value.line, int)
        return
    assert expected == parse_json(text)


@given(st.binary() | TEXTS.map(lambda text: text.encode(errors="surrogatepass")))
def test_any_bytes_are_read_or_rejected(data: bytes) -> None:
    files = set()
    for parse in (parse_json, parse_yaml):
        try:
            parse(data)
        except InvalidDocument as error:
            files.add(error.file)
    assert files <= {"<input>"}


def test_a_str_with_a_lone_surrogate_is_rejected_with_its_place() -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_json('{"a": [\n"x\ud800"]}', "file")
    expected = "file:2: at /a/0: expected Unicode text, got U+D800 alone"
    assert expected == str(caught.value)


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_a_document_beyond_the_size_bound_is_rejected(parse: Any) -> None:
    assert parse(b"[1]", bounds=Bounds(bytes=3))
    with pytest.raises(InvalidDocument, match=r"^file: expected at most 2 bytes, got more$"):
        parse(b"[1]", "file", Bounds(bytes=2))


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
@pytest.mark.parametrize("depth", [3, 254])
def test_the_depth_bound_is_exact(parse: Any, depth: int) -> None:
    bounds = Bounds(depth=depth)
    assert parse(b"[" * depth + b"]" * depth, bounds=bounds) is not None
    with pytest.raises(InvalidDocument, match="nested"):
        parse(b"[" * (depth + 1) + b"]" * (depth + 1), bounds=bounds)


def test_a_missing_file_is_an_invalid_document() -> None:
    for read in (read_json, read_yaml):
        with pytest.raises(InvalidDocument, match=r"^/nowhere/x: cannot be read: No such file"):
            read(Path("/nowhere/x"))


def test_yaml_scalars_are_strings_unless_json_has_the_same_literal() -> None:
    expected = {
        "day": "2026-04-24",
        "moment": "2026-04-24T10:00:00Z",
        "country": "no",
        "yes": "on",
        "time": "1:30",
        "version": 1.1,
        "octal": "0o17",
        "hex": "0x1F",
        "words": ["True", "NULL", ".nan", "1", "+1", "1_000"],
        "values": [True, False, None, None, 0, -1, 1.5, 1000.0],
        "nothing": None,
    }
    assert expected == read_yaml(BYTES / "plain.yaml").value


@given(VALUES)
def test_json_is_read_as_yaml_too(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=True)
    # YAML has no surrogate pairs.
    assume("\\ud" not in text)
    assert value == parse_yaml(text.encode()).value


def test_each_key_and_item_of_yaml_has_a_line() -> None:
    document = parse_yaml(b"# first\na:\n  b/c:\n    - 1\n    - x: |\n        two\n        lines\n  d: 2\n")
    expected = {"": 2, "/a": 2, "/a/b~1c": 3, "/a/b~1c/0": 4, "/a/b~1c/1": 5, "/a/b~1c/1/x": 5, "/a/d": 8}
    assert expected == document.lines


def test_a_pointer_without_a_value_has_the_line_of_its_nearest_ancestor() -> None:
    document = parse_yaml(b"a:\n  b:\n    - 1\n")
    expected = [3, 2, 1, 1]
    assert expected == [document.line(pointer) for pointer in ("/a/b/0/x", "/a/b/7", "/c", "")]
    assert Document(None, {}).line("/a") is None


def test_yaml_written_by_other_tools_is_read_as_foreign() -> None:
    text = b"a: &x {n: [1]}\nb: *x\nc: !!binary |\n  aGVsbG8=\nd: !ruby/object:T {404: no}\n"
    expected = {"a": {"n": [1]}, "b": {"n": [1]}, "c": b"hello", "d": {"404": "no"}}
    assert expected == parse_yaml(text, foreign=True).value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ((BYTES / "alias-bomb.yaml").read_bytes(), "at most 1000000 values"),
        ((BYTES / "alias-of-itself.yaml").read_bytes(), "expected an alias of an earlier anchor, got *a"),
        (b"a: &a " + b"[" * 200 + b"]" * 200 + b"\nb: " + b"[" * 60 + b"*a" + b"]" * 60, "at most 254 nested"),
        (b"a: !!binary x", "expected base64"),
        (b"? *a : 1", "expected a string as key"),
    ],
)
def test_foreign_yaml_is_bounded_too(text: bytes, message: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_yaml(text, foreign=True)
    assert message in caught.value.message


def test_json_is_read_without_loading_yaml_or_the_scanner() -> None:
    code = (
        "import sys; from conformance.documents import parse_json; parse_json(b'{\"a\": 1}');"
        "print([m for m in ('yaml', 'conformance.documents.json_scan') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    loaded = "[]"
    assert loaded == done.stdout.decode().strip()
