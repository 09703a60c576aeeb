"""What MkDocs does not know: the generated reference, links to files of the repository, and a local mermaid."""

import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from reference_pages import pages

_ROOT: Final = Path(__file__).parents[1]
_LOG: Final = get_plugin_logger(__name__)
_LINK: Final = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)")
_OWN: Final = re.compile(r"\]\((https://wire-conformance\.github\.io/wire-conformance/)([^)#\s]*)")
"""A link to a page of the site by its address, which readers on GitHub need for pages that are not committed."""

_ROW: Final = re.compile(r"^\|.*\|$", re.MULTILINE)
_CODE: Final = re.compile(r"(`+).+?\1")
_MERMAID: Final = _ROOT / "node_modules/mermaid/dist/mermaid.min.js"
"""Where `npm install` puts mermaid. If it is not there, the theme has the reader's browser fetch it."""

_MERMAID_URI: Final = "assets/mermaid.min.js"
_BUNDLE: Final = re.compile(r'<script src="([^"]*)assets/javascripts/bundle')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference, the reports for browsers, and mermaid if it is installed."""
    for uri, text in pages().items():
        files.append(_generated(config, uri, content=text))
    for path in sorted((_ROOT / "reports").rglob("*")):
        if path.suffix in (".html", ".svg"):
            files.append(_generated(config, path.relative_to(_ROOT).as_posix(), path=path))
    if _MERMAID.exists():
        files.append(_generated(config, _MERMAID_URI, path=_MERMAID))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to files of the repository outside `docs/` into links to GitHub, and the site's own into relative."""
    folder = (_ROOT / "docs" / page.file.src_uri).parent

    def replaced(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        if target.is_relative_to(_ROOT / "docs") or not target.is_relative_to(_ROOT):
            return found[0]
        place = target.relative_to(_ROOT).as_posix()
        if files.get_file_from_path(place):
            return f"{found[1]}{'../' * page.file.src_uri.count('/')}{place}"
        if not target.exists():
            _LOG.warning("%s links to %s, which does not exist", page.file.src_uri, found[2])
        kind = "tree" if target.is_dir() else "blob"
        return f"{found[1]}{config.repo_url}/{kind}/main/{place}"

    def relative(found: re.Match[str]) -> str:
        target = next((each for each in files if each.url == found[2]), None)
        if target is None:
            _LOG.warning("%s links to %s%s, which is not a page", page.file.src_uri, found[1], found[2])
            return found[0]
        return f"]({'../' * page.file.src_uri.count('/')}{target.src_uri}"

    return _OWN.sub(relative, _LINK.sub(replaced, _ROW.sub(_unescaped, markdown)))


def _unescaped(row: re.Match[str]) -> str:
    """Return a row of a table without the backslashes that only GitHub needs before a bar in code."""
    return _CODE.sub(lambda found: found[0].replace("\\|", "|"), row[0])


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Load mermaid from the site itself on the pages that have a diagram."""
    del page, config
    if 'class="mermaid"' not in output or not _MERMAID.exists():
        return output
    return _BUNDLE.sub(rf'<script src="\g<1>{_MERMAID_URI}"></script>\g<0>', output, count=1)


def _generated(config: MkDocsConfig, uri: str, content: str | None = None, path: Path | None = None) -> File:
    if path is not None:
        return File.generated(config, uri, abs_src_path=str(path))
    return File.generated(config, uri, content=content or "")
