"""The reference of the documentation, made from the package itself whenever the site is built.

Nothing of it is committed, so it cannot be stale. Each module makes one page.
"""

from collections.abc import Mapping

from reference_pages import api, claims, commands, options, rules, scenarios, schemas

_MODULES = {
    "commands": commands,
    "pytest": options,
    "api": api,
    "rules": rules,
    "claims": claims,
    "scenarios": scenarios,
    "schemas": schemas,
}


def pages() -> Mapping[str, str]:
    """Return the Markdown of each page by its path below `docs/`."""
    return {f"reference/{name}.md": module.page() for name, module in _MODULES.items()}
