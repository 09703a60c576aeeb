"""Gateways: programs that pass requests to providers, tested at both ends; each has one definition file here."""
