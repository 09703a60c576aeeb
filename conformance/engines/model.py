"""The scripted model in the form that an engine takes, made by the scripts that stand beside its weights."""

import hashlib
import subprocess
from pathlib import Path
from typing import Final

from conformance.errors import Unusable

_SECONDS: Final = 120.0


def fingerprint(source: Path) -> str:
    """Return the beginning of the SHA-256 of the weights; raises Unusable where there are none."""
    path = source / "model.safetensors"
    if not path.is_file():
        raise Unusable(
            f"the scripted model is not in {source}: there is no {path.name}; name its folder with --weights"
        )
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def prepared(source: Path, target: Path, form: str, template: str, python: Path) -> Path:
    """Return the path of the model with a chat template: `<target>.gguf` for `gguf`, a folder for `folder`.

    The engine's own interpreter makes it, since only that has what reads the weights. Raises Unusable where the model
    is absent or cannot be written.
    """
    script = source / ("to_gguf.py" if form == "gguf" else "to_folder.py")
    if not script.is_file():
        message = f"the scripted model is not in {source}: there is no {script.name}; name its folder with --weights"
        raise Unusable(message)
    path = target.with_name(f"{target.name}.gguf") if form == "gguf" else target
    done = subprocess.run(  # noqa: S603 — a script of this project
        [str(python), str(script), str(source), str(path), "--template", template],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode or not path.exists():
        words = done.stdout.decode("utf-8", "replace").strip()[-2000:] or "no reason given"
        raise Unusable(f"the scripted model cannot be made ready with template {template}: {words}")
    return path
