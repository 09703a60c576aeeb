"""Measurements: ratios within one run against named peers, never a timed test."""
