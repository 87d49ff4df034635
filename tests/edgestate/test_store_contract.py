"""The three stores keep one contract, on real Valkey and real SQLite."""

from __future__ import annotations

from tests.conformance.state_store import StateStoreContract


class TestStores(StateStoreContract):
    """`store` is each of the three."""
