"""The wheel holds the data folders, byte for byte as they stand in the checkout.

python -m tests.checks.wheel
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("schemas", "cassettes", "fixtures", "reports")


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", scratch, str(ROOT)]
        subprocess.run(command, check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            shipped = {name: archive.read(name) for name in archive.namelist()}
    wanted = {
        f"conformance/_data/{path.relative_to(ROOT)}": path.read_bytes()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    wrong = sorted(name for name, content in wanted.items() if shipped.get(name) != content)
    print("\n".join(f"wheel: {name} is missing or differs" for name in wrong) or f"wheel: {len(wanted)} data files")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
