"""A package index and an npm registry on loopback, with archives that tests make up."""

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from conformance.evidence.packages.archives import Archives
from conformance.evidence.packages.registries import Registries

SIMPLE = "application/vnd.pypi.simple.v1+json"


def wheel(files: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def tarball(files: Mapping[str, str], top: str = "package") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


class Registry:
    """What is published: replies by path, and how often each path was asked for."""

    def __init__(self) -> None:
        self.replies: dict[str, tuple[int, str, bytes]] = {}
        self.asked: list[str] = []
        self.url = ""
        self._files: dict[str, list[dict[str, Any]]] = {}

    def publish_wheel(self, name: str, version: str, content: bytes, digest: str = "", **more: Any) -> None:
        file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        self._publish(name, file, content, digest, **more)

    def publish_source(self, name: str, version: str, content: bytes) -> None:
        self._publish(name, f"{name.replace('-', '_')}-{version}.tar.gz", content, "")

    def publish_npm(self, name: str, versions: Mapping[str, bytes], **more: Any) -> None:
        entries = {}
        for version, content in versions.items():
            path = f"/npm-files/{name}-{version}.tgz"
            self.replies[path] = (200, "application/octet-stream", content)
            digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
            entries[version] = {"dist": {"tarball": f"{self.url}{path}", "integrity": f"sha512-{digest}"}}
        body = json.dumps({"name": name, "versions": entries, **more}).encode()
        self.replies[f"/npm/{name.replace('/', '%2F')}"] = (200, "application/json", body)

    def _publish(self, name: str, file: str, content: bytes, digest: str, **more: Any) -> None:
        self.replies[f"/files/{file}"] = (200, "application/octet-stream", content)
        known = digest or hashlib.sha256(content).hexdigest()
        entry = {"filename": file, "url": f"../../files/{file}", "hashes": {"sha256": known}, "size": len(content)}
        held = self._files.setdefault(name, [])
        held.append({**entry, **more})
        self.replies[f"/simple/{name}/"] = (200, SIMPLE, json.dumps({"files": held}).encode())


@contextmanager
def registry() -> Iterator[Registry]:
    """Yield a registry that is served on loopback."""
    held = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            held.asked.append(self.path)
            status, kind, body = held.replies.get(self.path, (404, "text/plain", b"no such package"))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    held.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def archives(held: Registry, folder: Path, **more: Any) -> Iterator[Archives]:
    """Yield archives that come from a registry on loopback."""
    with httpx.Client() as client:
        yield Archives(Registries(client, f"{held.url}/simple", lambda _scope: f"{held.url}/npm"), folder, **more)
