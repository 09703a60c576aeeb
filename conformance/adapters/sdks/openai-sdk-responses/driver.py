"""Drives the OpenAI SDK on Responses: a loop that appends the reply's output to the input, as its documentation does.

Nothing is stored, so that reasoning comes encrypted and has to be sent back, unless the job leaves its state to the
server. The SDK's own helper assembles streams.
"""

import sys
from pathlib import Path
from typing import Any

from openai import OpenAI

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive

STATELESS = {"store": False, "include": ["reasoning.encrypted_content"]}


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    client = OpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    tools = [{"type": "function", **tool.as_openai()["function"], "strict": False} for tool in job.tools]
    fixed: dict[str, Any] = {"model": job.model, **({"store": True} if job.state else STATELESS)}
    fixed |= ({"tools": tools} if tools else {}) | ({"instructions": job.system} if job.system else {})

    def ask(history: list[Any]) -> Any:
        if not job.stream:
            return client.responses.create(input=history, **fixed)
        with client.responses.stream(input=history, **fixed) as stream:
            stream.until_done()
            return stream.get_final_response()

    history: list[Any] = []
    for prompt in job.prompts:
        history.append({"role": "user", "content": prompt})
        for _ in range(job.max_turns):
            reply = ask(history)
            if job.state == "response":
                history, fixed["previous_response_id"] = [], reply.id
            else:
                history += reply.output
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                break
            for call, (text, _) in zip(calls, job.run_calls([(c.name, c.arguments) for c in calls]), strict=True):
                history.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
        job.ended(reply.status)
        yield reply.output_text


drive(talk, "openai")
