"""Makes `python -m conformance` run the `conformance` command."""

from conformance.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
