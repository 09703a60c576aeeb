"""The suites that `pytest --provider=P` runs."""
