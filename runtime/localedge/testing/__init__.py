"""Tests of workers on real stores and real processes: fixtures `env`, `edge` and `clock`."""
