"""Measures what a fault of a server costs real clients: each fault is served to each SDK in a short scenario.

`workers` keeps an SDK loaded and gives it job after job, `playing` serves a fault to it, `outcomes` compares what it
did with what it does on healthy replies, `data` keeps what was measured, `pages` writes reports/harm.md.
`python -m tests.harm` does all of it.
"""
