"""Engines: open-source servers that run here with the scripted model; each has one definition file in this folder."""

from conformance.engines.definition import FOLDER, EngineDefinition, Template, load, names

__all__ = ["FOLDER", "EngineDefinition", "Template", "load", "names"]
