"""Every data file of the repository is what its schema says: schemas, profiles, scenarios, manifests, fixtures.

python -m tests.checks.data
"""

from collections.abc import Iterator

from conformance import profiles, scenarios
from conformance.documents import read_json
from conformance.errors import ConformanceError
from conformance.resources import folder
from conformance.rules import load
from conformance.schemas import check_schema
from conformance.transport.cassette import Shelf


def faults() -> Iterator[str]:
    for path in sorted(folder("schemas").rglob("*.json")):
        yield from (f"{path.name}: {error.message}" for error in check_schema(read_json(path)))
    for name in profiles.names():
        try:
            profiles.load(name)
            Shelf(folder("cassettes"), name).manifest()
        except ConformanceError as error:
            yield str(error)
    known = {rule.id for rule in load()}
    for name in scenarios.names():
        try:
            scenario = scenarios.load(name)
        except ConformanceError as error:
            yield str(error)
            continue
        yield from (
            f"scenarios/{name}.yaml: there is no rule {probe.breaks}"
            for probe in scenario.probes
            if probe.breaks is not None and probe.breaks not in known
        )


def main() -> int:
    found = list(faults())
    print("\n".join(found) or "data: every file is what its schema says")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
