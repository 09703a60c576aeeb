"""Runs a whole agent, once for each prompt of a job, without a terminal, and prints its answers. It is a program.

The job says under `agent` which program it is, with which arguments, variables and files, and how to read its answer.
It needs the standard library only.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_LAST_LINES = 6
_LAST_CHARACTERS = 600


def main() -> int:
    """Read the job from standard input, run the agent, and print the answer."""
    job = json.load(sys.stdin)
    agent = job["agent"]
    values = _values(job)
    for path, content in agent.get("files", {}).items():
        target = Path(_filled(path, values))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_filled(content if isinstance(content, str) else json.dumps(content), values), "utf-8")
    texts: list[str | None] = []
    error = None
    for number, prompt in enumerate(job["prompts"]):
        model = job["other_model"] if number in job["switches"] else job["model"]
        done = _run(agent, {**values, "prompt": prompt, "model": model}, is_first=number == 0)
        if done.returncode:
            error = {"type": f"exit code {done.returncode}", "message": _end(f"{done.stderr}\n{done.stdout}")}
            break
        texts.append(_text(done.stdout, agent.get("answer", {})))
    answer = {"texts": texts, "version": {agent["package"]: agent["version"]}}
    print(json.dumps(answer | ({"error": error} if error else {})))
    return 0


def _values(job: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands for each place in arguments, variables and files."""
    return {
        "base_url": job["base_url"],
        "root": job["base_url"].removesuffix("/v1"),
        "key": job["api_key"],
        "model": job["model"],
        "other_model": job["other_model"],
        "home": os.environ["HOME"],
        "work": job["workdir"],
        "folder": job["agent"]["folder"],
        "node": job["agent"]["node"],
    }


def _run(agent: Mapping[str, Any], values: Mapping[str, str], *, is_first: bool) -> "subprocess.CompletedProcess[str]":
    words: list[str] = []
    for word in agent["command"]:
        if word == "{again}":
            words += [_filled(each, values) for each in agent.get("begin" if is_first else "again", [])]
        else:
            words.append(_filled(word, values))
    given = {name: _filled(text, values) for name, text in agent.get("environment", {}).items()}
    return subprocess.run(  # noqa: S603 — what the definition names
        words,
        cwd=values["work"],
        env={**os.environ, "PWD": values["work"], **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _filled(text: str, values: Mapping[str, str]) -> str:
    # In one pass: a prompt may have words in braces of its own.
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)


def _text(output: str, answer: Mapping[str, Any]) -> str | None:
    """Return the final text: the whole output, a member of it as JSON, or one of the last of its lines that fits."""
    if "member" in answer:
        return _at(_json(output[output.find("{") :]), answer["member"].split("."))
    if "lines" not in answer:
        return output.strip() or None
    found = [
        text
        for line in output.splitlines()
        if _fits(value := _json(line), answer["lines"].get("where", {}))
        and (text := _at(value, answer["lines"]["text"].split("."))) is not None
    ]
    return "".join(found) if answer["lines"].get("joined") else found[-1] if found else None


def _fits(value: Any, where: Mapping[str, Any]) -> bool:
    return all(_at(value, name.split(".")) == wanted for name, wanted in where.items())


def _json(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except ValueError:
        return None


def _at(value: Any, names: Sequence[str]) -> str | None:
    """Return the text at the end of a path of names; None if there is none."""
    for name in names:
        if isinstance(value, list):
            value = value[int(name)] if -len(value) <= int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def _end(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    return " / ".join(lines)[-_LAST_CHARACTERS:]


if __name__ == "__main__":
    raise SystemExit(main())
