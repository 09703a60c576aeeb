"""The markup of model families in text: how tool calls, reasoning and special tokens look that a parser left there.

One YAML file per family; the folder is the registry. `detection.find_leaks` is the one way to see them, and `signs`
says whether it is worth it.
"""
