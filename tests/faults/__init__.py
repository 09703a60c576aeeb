"""Plays each fault of real servers between the suite and the simulator, with the script hidden from the suite.

`hidden` is the provider that no run can recognise as a simulator, `playing` runs the items of the suite against it,
`verdicts` says what a run shows of a fault, `pages` writes that into reports/. `python -m tests.faults` does all of it.
"""
