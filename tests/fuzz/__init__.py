"""Fuzzing: real exchanges and files, mutated from a seed, for everything that takes input from outside.

`python -m tests.fuzz --help` fuzzes. The tests here do so a little, and repeat the inputs in `fixtures/bytes/fuzz/`,
which once failed.
"""
