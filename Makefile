# `make demo` and `make test` need Python 3.11 or later, gcc, git and make; the rest goes to .venv.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
PYTEST_WORKERS ?= 2

DEMO_READY := $(VENV)/.ready-demo
TEST_READY := $(VENV)/.ready-test
BENCH_READY := $(VENV)/.ready-bench

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	--no-input -c constraints.txt
# Material for MkDocs announces its successor at every build; a change is a decision, not a warning.
export NO_MKDOCS_2_WARNING := 1

heading = @printf '\n=== %s\n' '$(1)'

.PHONY: help demo test test-all lint format bench coverage fuzz chains mutants docs package licences clean clean-kernels

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ------------------------------------------------------------------ environment

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'mechid needs Python 3.11 or later; say which with: make PYTHON=/path/to/python' >&2; \
	  exit 1; }
	$(call heading,environment in $(VENV))
	@$(PYTHON) -m venv $(VENV)

$(DEMO_READY): pyproject.toml constraints.txt | $(BIN)/python
	$(call heading,install mechid)
	@$(PIP_INSTALL) -e .
	@touch $@

# What the tests need includes what the demo needs.
$(TEST_READY): pyproject.toml constraints.txt | $(BIN)/python
	$(call heading,install mechid with the tools of the tests)
	@$(PIP_INSTALL) -e '.[test]'
	@touch $(DEMO_READY) $@

$(BENCH_READY): $(TEST_READY)
	$(call heading,install the peers of the benchmarks)
	@$(PIP_INSTALL) -e '.[test,bench]'
	@touch $@

# ------------------------------------------------------------------ jobs

demo: $(DEMO_READY) ## Identify a suspension from synthetic data, write a report
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m mechid.demo

# Tests marked slow repeat trials over many seeds, kills, or files: they are for `make test-all`.
test test-all: $(TEST_READY)
test: SELECTED := -m 'not slow'
test: ## Run the checks: style, types, layers, tests, documentation
test-all: ## The same with the slow tests
test test-all:
	$(call heading,style)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	$(call heading,types)
	@$(BIN)/mypy --strict
	$(call heading,layers)
	@$(BIN)/lint-imports
	$(call heading,tests)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile \
	  $(SELECTED) --durations=60 --durations-min=5
	$(call heading,documentation)
	@# Not --quiet: it hides the warnings that --strict counts.
	@site=$$(mktemp -d); trap 'rm -rf "$$site"' EXIT; \
	  $(BIN)/mkdocs build --strict --site-dir "$$site"
	$(call heading,all checks passed)

lint: $(TEST_READY) ## Style, types and layers only
	$(call heading,style)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	$(call heading,types)
	@$(BIN)/mypy --strict
	$(call heading,layers)
	@$(BIN)/lint-imports

format: $(TEST_READY) ## Format the code and mend what can be mended
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

bench: $(BENCH_READY) ## Run benchmarks/bench_*.py one after the other
	@shopt -s nullglob; files=(benchmarks/bench_*.py); \
	  [ $${#files[@]} -gt 0 ] || echo 'no benchmarks/bench_*.py'; \
	  for file in "$${files[@]}"; do printf '\n=== %s\n' "$$file"; $(BIN)/python "$$file"; done

# Compiled kernels cannot be measured, and uncompiled ones are a thousand times slower: all tests
# run compiled, then some that reach the kernels run again without compilation (not those of cut
# threads, which take many small steps).
UNCOMPILED := tests/contract/test_uncompiled.py tests/dynamics/test_inverse.py \
	tests/kinematics/test_closed_forms.py

# Counts are added to the record of docs/reliability/bad-input.md.
SECONDS := 600
fuzz: $(TEST_READY) ## Read mutated files of every kind: make fuzz SECONDS=600
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seconds $(SECONDS) \
	  --record docs/reliability/data/bad-input.json

# 200 random mechanisms through the commands, a stage after the other; what was done stands in chains/.
chains: $(TEST_READY) ## Take random closed chains through all commands: make chains COUNT=200
	@for stage in count certify use; do \
	  $(BIN)/python -m tests.chains --count $(COUNT) --seed $(SEED) --stage $$stage; done
	@$(BIN)/python -m tests.chains --record

# Of the sample that docs/reliability/mutation.md shows; what the record holds is not tried again.
COUNT := 100
SEED := 1
mutants: $(TEST_READY) ## Put mistakes into the code, see if tests notice: make mutants COUNT=100 SEED=1
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.mutation --count $(COUNT) --seed $(SEED) --write

coverage: $(TEST_READY) ## Show what the tests do not reach, kernels included
	$(call heading,all tests)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile \
	  --cov --cov-report=
	$(call heading,some of them with uncompiled kernels)
	@OPENBLAS_NUM_THREADS=1 NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(PYTEST_WORKERS) \
	  --cov --cov-append $(UNCOMPILED) -k 'not thread'

docs: $(TEST_READY) ## Build the documentation into site/, with notebooks executed
	@MECHID_RUN_NOTEBOOKS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/mkdocs build --strict --site-dir site
	@echo 'site/index.html'

package: $(TEST_READY) ## Build, install in clean environments and try all supported versions
	@$(BIN)/python -m tests.package --record

licences: $(TEST_READY) ## Write the tables of LICENSES.md again
	@$(BIN)/python -m tests.package.licences

clean-kernels: ## Drop the compiled kernels
	@find src -name '*.nb[ci]' -delete

clean: ## Remove the environment and everything that was generated
	@rm -rf $(VENV) build chains demo dist fuzz-failures htmlcov site .coverage .coverage.* coverage.xml \
	  .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + \
	  2>/dev/null || true
