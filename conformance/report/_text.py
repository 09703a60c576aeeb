"""Text from the wire, as a terminal may show it."""


def printable(text: str) -> str:
    """Return a text with its control characters spelled out: what came over the wire must not steer a terminal."""
    if text.isprintable():
        return text
    return "".join([each if each.isprintable() else repr(each)[1:-1] for each in text])
