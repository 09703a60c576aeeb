"""Files in the place of a cassette that are not cassettes."""

from typing import Final

BROKEN: Final = {
    "empty": b"",
    "cut": b'interactions:\n- request:\n    body: "abc',
    "another YAML": b"[]\n",
    "without interactions": b"interactions: []\n",
    "binary": b"\xff\xfe\x00",
    "a body that is none": b"interactions: [{request: {method: POST, uri: u, headers: {}, body: ''}, "
    b"response: {status: {code: 200}, headers: {}, body: {}}}]\n",
    "a tag": b"interactions: !!python/object:os.system x\n",
}  # fmt: skip
