"""Where recordings and results go: never through a link, and never to a place that cannot hold them."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import artifacts
from conformance.cli import main
from conformance.errors import Unusable
from conformance.proxy import running
from conformance.suite.cassettes import record
from conformance.suite.options import Options
from tests.loops import every

MODEL = "ernie-4.5-turbo-128k"
KEPT = "of somebody else"

Planted = Callable[[Path, Path], Path]
"""Puts something into the folder of a recording that leads to another folder; returns what must be named."""


def linked(name: str) -> Planted:
    """Return what puts a link into the folder of a recording, or in its place, to a file or folder outside."""

    def plant(folder: Path, outside: Path) -> Path:
        place = folder / name if name else folder
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(outside / "kept" if place.suffix else outside)
        return place

    return plant


def piped(folder: Path, _: Path) -> Path:
    place = folder / "baidu" / "manifest.yaml"
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    return place


PLANTED: dict[str, Planted] = {
    "the folder": linked(""),
    "the provider's folder": linked("baidu"),
    "the model's folder": linked(f"baidu/{MODEL}"),
    "a cassette": linked(f"baidu/{MODEL}/plain-answer.plain.yaml"),
    "a cassette of the proxy": linked("baidu/m/conversation-0001.yaml"),
    "the manifest": linked("baidu/manifest.yaml"),
    "the folder of recordings in progress": linked("baidu/.recording"),
    "what a recording that waits says": linked(f"baidu/.recording/{MODEL}/ready.json"),
    "the lock": linked("baidu/.proxy.lock"),
    "a pipe": piped,
}


@every("name", PLANTED)
def test_no_recording_follows_a_link(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("linked")
    outside, folder = home / "outside", home / "cassettes"
    outside.mkdir()
    (outside / "kept").write_text(KEPT)
    place = PLANTED[name](folder, outside)
    with pytest.raises(Unusable, match=r"recordings follow none|neither a file nor a folder") as refused:
        record(Options("baidu", folder, "2026-01-01"))
    assert str(place) in str(refused.value)
    assert 2 == main(["proxy", "--provider=baidu", "--upstream=http://qianfan.baidubce.com", "--record", str(folder)])
    assert {"kept": KEPT} == {each.name: each.read_text() for each in outside.iterdir()}


def test_a_link_that_is_put_there_meanwhile_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "cassettes" / "provider"
    outside.mkdir()
    folder.mkdir(parents=True)

    def check_and_lose(root: Path, path: Path) -> None:
        (folder / "model").symlink_to(outside)

    monkeypatch.setattr(artifacts, "refuse_links", check_and_lose)
    with pytest.raises(Unusable, match="cannot write"):
        artifacts.write(folder / "model" / "file.yaml", "x", root=folder.parent)
    assert [] == [*outside.iterdir()]


def occupied(folder: Path) -> list[str]:
    (folder / "deepseek.json").mkdir(parents=True)
    return ["--results", str(folder)]


def a_file(folder: Path) -> list[str]:
    folder.write_text("")
    return ["--record", str(folder)]


def a_pipe(folder: Path) -> list[str]:
    os.mkfifo(folder)
    return ["--results", str(folder)]


def below_a_file(folder: Path) -> list[str]:
    folder.write_text("")
    return ["--record", str(folder / "cassettes")]


@every("target", [occupied, a_file, a_pipe, below_a_file], lambda target: target.__name__)
def test_the_proxy_does_not_listen_if_it_cannot_write(
    target: Callable[[Path], list[str]],
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "bind", lambda *_: pytest.fail("it listens"))
    options = target(tmp_path_factory.mktemp("targets") / "target")
    assert 2 == main(["proxy", "--provider=deepseek", *options])
    printed = capsys.readouterr()
    assert ("", "conformance: cannot ") == (printed.out, printed.err[:20])


@every("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_folder_that_takes_no_data_is_noticed_before_the_work(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(Unusable, match=f"cannot write to the folder .*: {os.strerror(number)}"):
        artifacts.check_writable(tmp_path / "new")
    assert [] == [*(tmp_path / "new").iterdir()]
