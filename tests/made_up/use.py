"""Judges, converts, prepares, serves and plays the made-up wire; prints what came of it as JSON."""

import json

import httpx

from conformance import Exchange, Status, check, from_canonical, profiles, to_canonical
from conformance.convert.native import native_request
from conformance.simulator import simulated
from conformance.wires import NAMES

ASKED = {"who": "visitor", "said": "What time is it?"}
CALLED = {"who": "parrot", "said": "", "errands": [{"tag": "call_1", "what": "now", "how": "{}"}]}
WRONG = {"who": "errand", "tag": "call_2", "said": "12:00"}
BODY = {"model": "grey-1", "utterances": [ASKED, CALLED, WRONG]}

judged = check(Exchange(request=BODY))
shape = check(
    Exchange(request={"model": "grey-1", "utterances": [{"who": "cat"}]}, url="https://parrot.example/v1/parrot")
)
right = {**WRONG, "tag": "call_1"}
converted = to_canonical("parrot", {"model": "grey-1", "utterances": [ASKED, CALLED, right]})
there = from_canonical("messages", converted.value)
back = from_canonical("parrot", converted.value)
thought = {"role": "assistant", "content": "12:00", "reasoning_content": "Look."}
prepared = native_request({"model": "m", "messages": [{"role": "user", "content": "Hi"}, thought]}, (0, 1), "parrot")
profile = profiles.load("parrot")
with simulated(profile) as url:

    def post(body: object) -> str:
        return httpx.post(f"{url}/v1/parrot", json=body).text

    served = json.loads(post({"model": "grey-1", "utterances": [ASKED]}))
    streamed = post({"model": "grey-1", "stream": True, "utterances": [ASKED]})
print(
    json.dumps(
        {
            "names": NAMES,
            "failed": {
                each.rule: [found.at for found in each.findings] for each in judged if each.status is Status.FAILED
            },
            "shape": [found.at for each in shape if each.rule == "native/request-shape" for found in each.findings],
            "lost": [loss.pointer for loss in converted.lost],
            "messages": [message["role"] for message in there.value["messages"]],
            "back": back.value == {"utterances": [ASKED, CALLED, right]},
            "prepared": [str(note) for note in prepared.notes],
            "served": served["utterance"]["who"],
            "streamed": streamed.count("data: "),
            "provider": profile.wires,
        }
    )
)
