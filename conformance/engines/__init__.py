"""Engines: open-source servers that run here with the scripted model; one definition a file in this folder."""

from conformance.engines.definition import FOLDER, Definition, Template, load, names

__all__ = ["FOLDER", "Definition", "Template", "load", "names"]
