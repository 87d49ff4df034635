"""Durable stores of others under the same deaths as ours."""
