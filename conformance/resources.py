"""Paths of the data folders: inside an installed wheel, or beside the package in a checkout.

A wheel holds `schemas` and `cassettes`, of `fixtures` only what the package itself reads, and of `reports` the expected
failures, the calibration and an archive of the results.
"""

from pathlib import Path

from conformance.errors import Unusable

_PACKAGE = Path(__file__).parent
_SHIPPED = _PACKAGE / "_data"


def folder(name: str) -> Path:
    """Return a data folder by name: schemas, cassettes, fixtures or reports."""
    shipped = _SHIPPED / name
    return shipped if shipped.is_dir() else _PACKAGE.parent / name


def checkout_folder(name: str, instead: str) -> Path:
    """Return a data folder of the checkout, for commands that write to it or need all of it.

    Raises Unusable if the package is installed from a wheel. `instead` says what the user has to do then, such as
    `--results DIR is required`.
    """
    if _SHIPPED.is_dir():
        message = f"{instead}, because conformance does not run from a checkout of its repository"
        raise Unusable(message)
    return _PACKAGE.parent / name
