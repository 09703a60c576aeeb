"""Adapters: real SDKs and agent loops, each driven through sessions and checked by the requests it actually sent."""
