"""Report what is wrong with a profile: its schema, sources, unknown claims, and claims that exclude each other.

Every option --provider takes the path of a profile. `extends` in it names the profile that it builds on. A name belongs
to the shipped profile, then to one that an installed package offers by an entry point of the group
`wire_conformance.profiles`.

Returns exit code 1 for claims that exclude each other, and 2 for a file that is not a profile.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Final

from conformance import profiles
from conformance.profiles import Profile, review
from conformance.reporting.text import plural
from conformance.terminal import print_error

EXAMPLES: Final = """\
  conformance provider validate my-gateway.yaml
  conformance explain claims --provider ./my-gateway.yaml
  conformance check --provider ./my-gateway.yaml traffic.jsonl"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the YAML file of the profile")


def run(arguments: argparse.Namespace) -> int:
    """Print the problems; return 1 if there are any."""
    path: Path = arguments.file
    errors = profiles.errors(path)
    if errors:
        for error in errors:
            print_error(str(error))
        return 2
    profile = profiles.load_profile(path)
    print(f"{profile.name}: {_counted(profile)}")
    found = [
        f"{f'models/{each.model}: ' if each.model else ''}{each.message}" for each in review.contradictions(profile)
    ]
    for message in found:
        print(f"problem: {message}")
    if not found:
        # Imported here because it plays the whole suite, which an unusable profile does not need.
        from conformance.suite.rehearsal import problems

        found = list(problems(profile))
        for message in found:
            print(f"problem: the simulator of this profile fails the suite: {message}")
    if profile.extends:
        base = profile.extends[0]
        own = {name: each for name, each in profile.claims.items() if not each[0].origin}
        for name in review.unchanged(own, _base(path)):
            print(f"note: {name}: the claim changes nothing: {base} makes it already")
    print(plural(len(found), "problem"))
    return int(bool(found))


def _base(path: Path) -> Profile:
    """Return the profile that another one directly builds on."""
    from conformance.documents import read_yaml

    name: str = read_yaml(path).value["extends"]
    return profiles.read(path.parent / name) if profiles.is_path(name) else profiles.load(name)


def _counted(profile: Profile) -> str:
    """Return how many claims a profile makes, and where they come from."""
    holders = (profile.claims, *(model.claims for model in profile.models))
    origins = Counter(history[0].origin or profile.name for claims in holders for history in claims.values())
    shown = ", ".join(f"{origins[name]} of {name}" for name in (profile.name, *profile.extends))
    return plural(origins.total(), "claim") + (f" ({shown})" if profile.extends else "")
