"""What is claimed of each provider's wire: one YAML file per provider, resolved for a model and a day.

The names, types and meanings of claims are in `schemas/files/profile.json` alone. A claim that a profile omits is as
on the canonical wire; one whose value is `unknown` was looked for and not found.
"""

from conformance.profiles.claims import (
    REFUSING,
    UNKNOWN,
    UPSTREAM,
    Claim,
    Claims,
    Disagreement,
    Histories,
    Model,
    Profile,
    of,
    rejects_or_damages,
    tolerates,
)
from conformance.profiles.conditions import matches, thinks
from conformance.profiles.files import (
    check_claim,
    errors,
    has,
    installed_names,
    is_path,
    load,
    load_profile,
    names,
    read,
    resolve_profile,
    vocabulary,
)
from conformance.profiles.lifecycle import Lifecycle, Period, retired
from conformance.profiles.sources import Source

__all__ = [
    "REFUSING", "UNKNOWN", "UPSTREAM", "Claim", "Claims", "Disagreement", "Histories", "Lifecycle", "Model", "Period",
    "Profile", "Source", "check_claim",
    "errors", "has", "installed_names", "is_path", "load", "load_profile", "matches", "names", "of", "read",
    "rejects_or_damages", "resolve_profile", "retired", "thinks", "tolerates", "vocabulary",
]  # fmt: skip
