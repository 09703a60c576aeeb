"""Small changes to the code that decides verdicts, each of which some test has to notice.

`python -m tests.mutants` draws a sample of them by seed, runs for each the tests that execute the changed line, and
prints those that no test noticed. `tests.mutation` changes exchanges instead, and asks whether a rule notices.
"""
