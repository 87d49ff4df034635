# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3 || command -v python)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NPROC := $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)

.PHONY: setup demo demo-team dev test test-edge test-browser test-long check bench explore reference crash-table clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; found " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.11.") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/python -m tests.demo

dev: $(STAMP)
	@$(BIN)/localedge dev

check: $(STAMP)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/pytest -q -n $(NPROC) -m 'not processes and not long and not slow and not edge and not browser'

test: $(STAMP)
	@.ci/test

# Our server beside the real parts, which the first run fetches: Pyodide, workerd, Cloudflare's SDK.
test-edge: $(STAMP)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,edge]'
	@$(BIN)/pytest -m 'edge and not long' --timeout 600

# The page as a person uses it, in headless Chromium; screenshots lie in build/screenshots.
test-browser: $(STAMP)
	@.ci/test-browser

test-long: $(STAMP)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,edge]'
	@LOCALEDGE_HYPOTHESIS=long $(BIN)/pytest -q -m long --timeout 3600

# Timed against others, on this machine, in one run; writes docs/benchmarks.md.
bench: $(STAMP)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@$(BIN)/python -m bench.against_miniflare
	@$(BIN)/python -m bench.durable_steps
	@$(BIN)/python -m bench.team
	@$(BIN)/python -m bench.explore_subjects
	@$(BIN)/python -m bench.explore_speed
	@$(BIN)/python -m bench.explore_foreign
	@$(BIN)/python -m bench.probe
	@$(BIN)/python -m tests.docs.reference

# The document's code, ours and ten mutants of it under every crash, order and stale read.
explore: $(STAMP)
	@$(BIN)/python -m tests.explore.show

# The pages of docs/reference, and the tables of docs/comparison.md, from what they are made of.
reference: $(STAMP)
	@$(BIN)/python -m tests.docs.reference

crash-table: $(STAMP)
	@$(BIN)/python -m tests.explore.crash_table

demo-team: $(STAMP)
	@$(BIN)/python -m tests.demo_team

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .localedge dist
