"""Adapters: real SDKs and agent loops, each driven through a session and judged by what it sent back."""
