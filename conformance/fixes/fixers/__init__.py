"""Families of fixers, one module each; the folder is the registry.

A module has `RULES`, the globs of the rules that it may know a fix for, `ORDER`, when it is asked, and `candidates`,
which yields other forms of the request of a problem, the best first. It need not be sure: what it yields is tried.
"""
