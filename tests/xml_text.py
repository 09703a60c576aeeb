"""XML that the reports of this project have written, parsed."""

from xml.etree import ElementTree as ET


def parse_xml(text: str) -> ET.Element:
    return ET.fromstring(text.encode())  # noqa: S314 — this project has written it a moment ago
