"""A whole agent in a few lines, which tests start as one: `python driven_agent.py URL WIRE MODEL STATE PROMPT`.

STATE is a file that holds the session. A fault in DRIVEN_FAULT makes it break one rule.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.driven import DrivenAgent


def main() -> int:
    url, wire, model, state, prompt = sys.argv[1:]
    agent = DrivenAgent(url, wire, model)
    file, fault = Path(state), os.environ.get("DRIVEN_FAULT", "")
    if file.exists() and fault != "forgets":
        agent.messages = json.loads(file.read_text("utf-8"))
    if fault in ("swaps", "drops"):
        agent.results = {"swaps": lambda texts: texts[::-1], "drops": lambda texts: texts[:1]}[fault]
    answer = agent.ask(prompt)
    file.write_text(json.dumps(agent.messages), "utf-8")
    print("working …")
    print(json.dumps({"type": "answer", "text": "done" if fault == "silent" else answer}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
