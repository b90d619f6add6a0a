# From a bare Python to a result: `make demo`, `make test`. Everything installed goes into .venv.
PYTHON ?= python3
VENV := .venv
PEERS := $(VENV)-peers
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
# Two workers by default: what the smallest CI machine has.
WORKERS ?= 2
# How long `make fuzz` looks.
MINUTES ?= 10
# How many faults `make mutants` puts in.
COUNT ?= 400

INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint requirements.lock
LOCKED := pyproject.toml requirements.lock

.DEFAULT_GOAL := help
.PHONY: help demo test check format lint types layers pytest fuzz mutants bench peers lock clean

help: ## list the targets
	@echo "usage: make TARGET [PYTHON=python3.12] [WORKERS=2]"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/core.stamp ## set up from a bare Python and show what symgrad does
	@$(BIN)/symgrad demo

test: check ## set up from a bare Python and run everything that CI runs

check: lint types layers pytest ## format and lint, types, layers; then tests, doctests, docs and examples

format: $(VENV)/dev.stamp ## rewrite the files in the one format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: $(VENV)/dev.stamp ## format and lint rules
	@echo "== format and lint"
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: $(VENV)/dev.stamp ## pyright: strict for the package, basic for the rest
	@echo "== types"
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/pyright --pythonpath $(BIN)/python --project tests

layers: $(VENV)/dev.stamp ## who may import whom
	@echo "== layers"
	@$(BIN)/lint-imports

pytest: $(VENV)/dev.stamp ## tests, doctests, every snippet of the docs and every example
	@echo "== tests"
	@$(BIN)/python -m pytest -n $(WORKERS)

fuzz: $(VENV)/dev.stamp ## run random cases of every kind for MINUTES
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --workers $(WORKERS)

mutants: $(VENV)/dev.stamp ## put COUNT small faults in, one at a time, and list those that no test notices
	@$(BIN)/python -m pip install -qq --disable-pip-version-check 'coverage>=7.6,<8'
	@test -e build/tests-of-lines.json || $(BIN)/python tools/mutants.py cover --workers $(WORKERS)
	@$(BIN)/python tools/mutants.py run --count $(COUNT) --workers $(WORKERS)

bench: $(VENV)/core.stamp ## run the benchmarks, then the scoreboard, in one thread and in two
	@$(BIN)/python -m benchmarks.run
	@$(BIN)/python -m benchmarks.scoreboard --threads 1 --threads 2

peers: $(PEERS)/peers.stamp ## install the peers of the scoreboard, into an environment of their own

# One by one: what has no wheel for this machine is left out, and the scoreboard says so.
$(PEERS)/peers.stamp: benchmarks/peers.txt
	@$(PYTHON) -m venv --clear $(PEERS)
	@sed -e '/^#/d' -e '/^$$/d' benchmarks/peers.txt | while IFS= read -r peer; do \
	    echo "== $$peer"; \
	    $(PEERS)/$(notdir $(BIN))/python -m pip install -qq --disable-pip-version-check --prefer-binary \
	        --constraint benchmarks/peers.txt "$$peer" || echo "left out: $$peer"; \
	done
	@touch $@

lock: ## resolve requirements.lock anew within the bounds of pyproject.toml
	@$(PYTHON) -m venv --clear $(VENV)-lock
	@$(VENV)-lock/$(notdir $(BIN))/python -m pip install -qq --disable-pip-version-check uv
	@$(VENV)-lock/$(notdir $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --extra dev --upgrade \
	    --no-emit-index-url --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

clean: ## remove what was built and installed
	rm -rf $(VENV) $(VENV)-lock $(PEERS) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/venv.stamp: $(LOCKED)
	@echo "== creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "symgrad needs Python 3.11 or newer; try: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/core.stamp: $(VENV)/venv.stamp
	@echo "== installing symgrad and what it needs"
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	@echo "== installing the tools that check it"
	@$(INSTALL) --editable '.[dev]'
	@touch $@
