"""Strategies of hypothesis for what crosses the wire, for the tests of other projects too."""

from conformance.strategies.transcript import transcripts

__all__ = ["transcripts"]
