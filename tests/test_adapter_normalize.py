"""Results contain nothing that changes from run to run or from machine to machine."""

from pathlib import Path

from conformance.adapters.normalize import normalize_text
from tests.loops import every


@every(
    ("text", "expected"),
    [
        ("at call (file:///opt/cache/sdk/node_modules/core/index.js:120:11)", "at call (…/index.js:120:11)"),
        ('File "/opt/venv/lib/python3.11/site-packages/sdk/run.py", line 7', 'File "…/run.py", line 7'),
        ("/opt/cache/adapters/langcha", "…/langcha"),
        ("http://127.0.0.1:41234/r/7/s/agent-session/v1", "http://127.0.0.1/s/agent-session/v1"),
        ("https://example.com/docs/guides/errors", "https://example.com/docs/guides/errors"),
        ("expected stop/length and 7/8/9", "expected stop/length and 7/8/9"),
        ("at 0x7f3a5c2d1e00", "at 0x…"),
        (f"in {Path.home()}", "in ~"),
        ("started at 1795381772378, 10000000000000 bytes", "started at (time), 10000000000000 bytes"),
        ("the id own-id-1234", "the id (own)"),
    ],
)
def test_text_that_changes_is_removed(text: str, expected: str) -> None:
    assert expected == normalize_text(text, {"own-id-1234": "(own)"})
