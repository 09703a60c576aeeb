"""Gateways: programs that pass requests to providers, held at both ends; each has one definition file in this folder."""
