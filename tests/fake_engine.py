"""Fake engines: definitions of small scripts that answer, crash, hang or leave child processes behind."""

import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import yaml

SCRIPT = """
import os, signal, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
port, fault = int(sys.argv[1]), sys.argv[2]
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
print("the fake begins", flush=True)
def record(pid):
    with open(os.environ["PIDS"], "a") as file:
        file.write(f"{pid}\\n")
record(os.getpid())
if fault == "crashes":
    print("the weights are gone", flush=True)
    sys.exit(3)
if fault == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if fault == "hangs":
    time.sleep(600)
if fault == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if fault == "children":
    record(subprocess.Popen(SLEEP).pid)
    code = "import signal, subprocess, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    code += f"print(subprocess.Popen({SLEEP!r}, start_new_session=True).pid, flush=True)"
    shown = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE)
    record(int(shown.stdout.readline()))
if fault == "loud":
    for _ in range(400):
        print("x" * 9999, flush=True)
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/ready" else 404)
        self.end_headers()
        if self.path == "/die":
            os._exit(5)
    def log_message(self, *_):
        pass
HTTPServer(("0.0.0.0" if fault == "open" else "127.0.0.1", port), Handler).serve_forever()
"""

SIMULATOR = """
import os, sys, threading
from dataclasses import replace
from conformance import profiles
from conformance.simulator import Simulator
from conformance.transport.http import HttpReply
from conformance.transport.server import serving
simulator = Simulator(profiles.load("llamacpp"))
def answer(asked):
    if asked.path == "/ready":
        return HttpReply(200, b"ok")
    if sys.argv[2] == "hangs":
        threading.Event().wait()
    if sys.argv[2] == "breaks" and b"tool_call_id" in asked.body:
        text = '{"error": {"message": "cannot read %s/x", "type": "server_error", "code": 500}}' % os.getcwd()
        return HttpReply(500, text.encode())
    found = simulator.answer(asked)
    return replace(found, headers={"content-type": found.headers["content-type"], "server": "fake"})
with serving(answer, port=int(sys.argv[1])):
    threading.Event().wait()
"""


def define(folder: Path, name: str = "fake", fault: str = "none", **changes: Any) -> Path:
    """Write a definition and its scripts into a folder, and return the path of the definition."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fake.py").write_text(SCRIPT)
    (folder / "simulator.py").write_text(SIMULATOR)
    value = {
        "title": "Fake engine",
        "provider": "llamacpp",
        "packages": [[f"pytest=={version('pytest')}"]],
        "version": "pytest",
        "model": "gguf",
        "templates": {"qwen3": {"name": "scripted-qwen3-0.002b", "flags": [fault]}},
        "command": ["{python}", "{package}/fake.py", "{port}", "{flags}"],
        "environment": {"PIDS": str(folder / "pids")},
        "health": "/ready",
        "seconds": 120,
        "grace": 0.3,
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({**value, **changes}, sort_keys=False))
    return path


def weights(folder: Path) -> Path:
    """Write a stand-in for the scripted model into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    for name in ("to_gguf.py", "to_folder.py"):
        (folder / name).write_text("import sys, pathlib; pathlib.Path(sys.argv[2]).write_text(sys.argv[4])")
    return folder


def pids(folder: Path) -> list[int]:
    """Return the ids of the processes that the fake engine has recorded."""
    path = folder / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def lives(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(met: Callable[[], object], seconds: float = 60.0) -> bool:
    """Wait until a condition is met, and return whether it was."""
    due = time.monotonic() + seconds
    while time.monotonic() < due:
        if met():
            return True
        time.sleep(0.05)
    return False
