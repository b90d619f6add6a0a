# From a bare Python to a result: `make demo`, `make test`. Everything installed goes into .venv.
PYTHON ?= python3
VENV := .venv
PEERS := $(VENV)-peers
LOWEST := $(VENV)-lowest
FRAMEWORKS := $(VENV)-frameworks
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
# Two workers by default: what the smallest CI machine has.
WORKERS ?= 2
# What `make test-lowest` runs: all, or some paths.
TESTS ?=
# The layers that all others stand on; what `make check-core` tests.
CORE := ir ops rewrite autodiff frontend pretty
# OpenBLAS's code for processors of 2008, which every x86 runs and none takes by itself: it sums in another order.
OTHER_BLAS ?= Nehalem
OF_BLAS := apps/gradcheck verification compiler/kernels
OF_FRAMEWORKS := symgrad/interop/exporters symgrad/interop/importers
# What runs the tests of the frameworks.
CHECKERS := 'hypothesis>=6.130,<7' 'pytest>=8.4,<10' 'pytest-xdist>=3.6,<4'
OF_LOCK := --constraint requirements-frameworks.lock
INSTALL_FRAMEWORKS = $(FRAMEWORKS)/$(notdir $(BIN))/python -m pip install -qq --disable-pip-version-check $(OF_LOCK)
# How long `make fuzz` searches.
MINUTES ?= 10
# What `make access` checks pages with.
AXE := build/axe/axe.min.js
# How many faults `make mutants` puts in.
COUNT ?= 400

# Compilers that are slow take most of the time, so both numbers are small.
BOARD := benchmarks.scoreboard --full --rounds 7 --limit 15 --threads 1 --threads 2

INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint requirements.lock
LOCKED := pyproject.toml requirements.lock
UV_LOWEST = $(LOWEST)/$(notdir $(BIN))/uv pip

.DEFAULT_GOAL := help
.PHONY: help demo test test-lowest test-frameworks test-blas check check-core format lint types layers picture modules photo site access pytest coverage docs fuzz mutants bench board peers lock lock-frameworks clean

help: ## list the targets
	@echo "usage: make TARGET [PYTHON=python3.12] [WORKERS=2]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/core.stamp ## set up from a bare Python and show what symgrad does
	@$(BIN)/symgrad demo

test: check ## set up from a bare Python and run everything but test-frameworks

test-lowest: $(LOWEST)/lowest.stamp ## run the tests with the oldest versions that pyproject.toml allows
	@$(LOWEST)/$(notdir $(BIN))/python -m pytest -n $(WORKERS) $(TESTS)

test-frameworks: $(VENV)/dev.stamp $(FRAMEWORKS)/frameworks.stamp ## types and tests of what Keras, TensorFlow, torch, JAX, Dask call
	@$(FRAMEWORKS)/$(notdir $(BIN))/python -m tests.frameworks.versions
	@$(BIN)/pyright --pythonpath $(FRAMEWORKS)/$(notdir $(BIN))/python --project tests/frameworks
	@$(FRAMEWORKS)/$(notdir $(BIN))/python -m pytest -n $(WORKERS) $(or $(TESTS),tests/frameworks $(OF_FRAMEWORKS))

test-blas: $(VENV)/dev.stamp ## run the tests that a BLAS could matter to with another one: OTHER_BLAS of OpenBLAS's kernels
	@echo "== tests with the BLAS of $(OTHER_BLAS)"
	@OPENBLAS_CORETYPE=$(OTHER_BLAS) $(BIN)/python -m pytest -n $(WORKERS) $(or $(TESTS),$(foreach layer,$(OF_BLAS),tests/$(layer) symgrad/$(layer)) --ignore=tests/verification/mistakes)

# torch by itself and by pip, which finds a build for CPUs if the machine has one; the rest by uv if it is there.
$(FRAMEWORKS)/frameworks.stamp: pyproject.toml requirements-frameworks.lock
	@echo "== installing the frameworks"
	@$(PYTHON) -m venv --clear $(FRAMEWORKS)
	@$(INSTALL_FRAMEWORKS) torch==2.13.0
	@if command -v uv >/dev/null; then uv pip install --quiet --python $(FRAMEWORKS) $(OF_LOCK) --editable '.[frameworks]' $(CHECKERS); \
	else $(INSTALL_FRAMEWORKS) --editable '.[frameworks]' $(CHECKERS); fi
	@touch $@

# symgrad's own requirements at their lowest versions, and what only checks it as new as these allow. One resolution for
# both, so that a bound which cannot be met fails here.
$(LOWEST)/lowest.stamp: pyproject.toml
	@echo "== installing the oldest versions"
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/$(notdir $(BIN))/python -m pip install -qq --disable-pip-version-check uv
	@$(UV_LOWEST) compile --quiet --resolution lowest-direct --output-file $(LOWEST)/lowest.txt pyproject.toml
	@$(UV_LOWEST) install --quiet --python $(LOWEST) --constraint $(LOWEST)/lowest.txt --editable '.[dev]'
	@touch $@

check: lint types layers pytest ## format and lint, types, layers; then tests, doctests, docs and examples

check-core: lint layers ## format and lint, types of the package, layers and tests of the core: make check-core PYTHON=python3.13 VENV=.venv-py3.13
	@echo "== types"
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@echo "== tests of the core with $$($(BIN)/python --version)"
	@$(BIN)/python -m pytest -n $(WORKERS) $(foreach layer,$(CORE),tests/$(layer) symgrad/$(layer))

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

layers: $(VENV)/dev.stamp ## which package may import which
	@echo "== layers"
	@$(BIN)/lint-imports
	@$(BIN)/python tools/structure.py

picture: $(VENV)/dev.stamp ## draw docs/import_graph.svg: the packages, and which imports which
	@$(BIN)/python tools/import_graph.py

modules: ## print what each module is for, by package; `make modules IN=symgrad/checker` a part
	@$(PYTHON) tools/module_index.py $(IN)

site: $(VENV)/core.stamp ## write the page of `symgrad serve` as files for a browser with Pyodide into build/site (an experiment)
	@$(BIN)/python tools/web_site.py

access: $(VENV)/dev.stamp $(AXE) ## test the page and reports in a Chromium, with axe-core, which npm fetches: can everyone use them?
	@SYMGRAD_AXE=$(abspath $(AXE)) $(BIN)/python -m pytest tests/apps/web/test_browser.py tests/report/test_in_a_browser.py

# axe-core is no Python package. Its rules grow with every release, so the release is fixed.
$(AXE):
	@mkdir -p $(@D)
	@cd $(@D) && npm pack --silent axe-core@4.14.1 >/dev/null && tar -xzf axe-core-4.14.1.tgz --strip-components=1 package/axe.min.js
	@touch $@

photo: $(VENV)/dev.stamp ## photograph the page of `symgrad serve` for the README, with a Chromium: docs/images/page.png
	@$(BIN)/python tools/page_picture.py

pytest: $(VENV)/dev.stamp ## tests, doctests, every snippet of the docs and every example
	@echo "== tests"
	@$(BIN)/python -m pytest -n $(WORKERS) --ignore=tests/frameworks

coverage: $(VENV)/dev.stamp ## which lines the tests run: build/coverage.md
	@$(BIN)/python -m pip install -qq --disable-pip-version-check 'pytest-cov>=6,<8'
	@mkdir -p build
	@$(BIN)/python -m pytest -n $(WORKERS) --ignore=tests/frameworks --cov=symgrad --cov-report=
	@$(BIN)/python -m coverage report --format=markdown > build/coverage.md
	@tail -n 1 build/coverage.md

docs: $(VENV)/docs.stamp ## build the manual: build/manual/index.html, to be read and searched without a network
	@$(BIN)/python -m tools.manual

fuzz: $(VENV)/dev.stamp ## run random cases of every kind for MINUTES
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --workers $(WORKERS)

mutants: $(VENV)/dev.stamp ## put COUNT small faults in, one at a time, and list those that no test notices
	@$(BIN)/python -m pip install -qq --disable-pip-version-check 'coverage>=7.6,<8'
	@test -e build/tests-of-lines.json || $(BIN)/python tools/mutants.py cover --workers $(WORKERS)
	@$(BIN)/python tools/mutants.py run --count $(COUNT) --workers $(WORKERS)

bench: $(VENV)/core.stamp ## run the benchmarks, then the scoreboard, in one thread and in two
	@$(BIN)/python -m benchmarks.run
	@$(BIN)/python -m $(BOARD)

board: $(VENV)/dev.stamp ## measure the scoreboard after `make peers`, and write it into docs/benchmarks.md
	@mkdir -p build
	@$(BIN)/python -m $(BOARD) --save build/scoreboard.json --write

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

lock-frameworks: ## install the frameworks anew within the bounds of pyproject.toml, and write down the versions
	@echo "# Versions that the tests of the frameworks pass with; by: make lock-frameworks" > requirements-frameworks.lock
	@$(MAKE) $(FRAMEWORKS)/frameworks.stamp
	@$(FRAMEWORKS)/$(notdir $(BIN))/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' >> requirements-frameworks.lock
	@touch $(FRAMEWORKS)/frameworks.stamp

lock: ## resolve requirements.lock anew within the bounds of pyproject.toml
	@$(PYTHON) -m venv --clear $(VENV)-lock
	@$(VENV)-lock/$(notdir $(BIN))/python -m pip install -qq --disable-pip-version-check uv
	@$(VENV)-lock/$(notdir $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --extra dev --upgrade \
	    --no-emit-index-url --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

clean: ## remove what was built and installed
	rm -rf $(VENV) $(VENV)-lock $(VENV)-py3.* $(LOWEST) $(PEERS) $(FRAMEWORKS) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/venv.stamp: $(LOCKED)
	@echo "== creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "symgrad needs Python 3.11 or newer; try: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/core.stamp: $(VENV)/venv.stamp
	@echo "== installing symgrad and what it needs"
	@$(INSTALL) --editable .
	@$(BIN)/python -m compileall -q symgrad  # else every process reads the source, where Python is told to write nothing
	@touch $@

$(VENV)/docs.stamp: $(VENV)/core.stamp
	@echo "== installing what builds the manual"
	@$(INSTALL) --editable '.[docs,plot]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	@echo "== installing the tools that check it"
	@$(INSTALL) --editable '.[dev]'
	@touch $@
