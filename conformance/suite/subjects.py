"""What the suites can be run against: each provider on each wire that it serves and that the project plays."""

from collections.abc import Iterator

from conformance import profiles, wires


def names() -> Iterator[str]:
    """Yield the name of each provider that serves chat completions, and `<provider>.<wire>` for each other wire."""
    played = {wire.name for wire in wires.load()}
    for name in profiles.names():
        profile = profiles.load(name)
        if profile.claims or not profile.protocols:
            yield name
        for wire, section in profile.protocols.items():
            if wire in played:
                yield section.name
