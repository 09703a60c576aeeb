"""Text to plain values, strictly: what a lenient reader repairs silently is an error with file, line and pointer."""

from conformance.documents.bounds import BOUNDS, JSON, Bounds
from conformance.documents.growing import GrowingTexts
from conformance.documents.json_text import parse_json, read_json
from conformance.documents.yaml_text import Document, parse_yaml, read_yaml

__all__ = ["BOUNDS", "JSON", "Bounds", "Document", "GrowingTexts", "parse_json", "parse_yaml", "read_json", "read_yaml"]
