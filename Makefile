# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# shapes in annotations are checked at run time where tensors are handled
SHAPES := --jaxtyping-packages=unmix.nn,unmix.training,unmix.penalties,unmix.objectives,unmix.solvers,unmix.rows,beartype.beartype
# one torch thread per test worker: two workers share two cores without fighting
SINGLE := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-all test-lowest smoke results check lint types imports bench docs tutorials golden lock lock-check sbom clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# modules are compiled when they are first imported: most never are, and compiling all takes longer than the rest
$(VENV)/.core: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,frames,cells,images,avatars,features,language,trees,cluster,slurm,browser,peers,causal]'
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

demo: $(VENV)/.core  ## install once, then the whole story on built-in data; prints where report and explorer are
	$(BIN)/unmix demo --out out/demo

test: $(VENV)/.dev  ## the test suite (minutes, two cores, no GPU)
	$(SINGLE) $(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" $(SHAPES)

test-slow: $(VENV)/.dev  ## what `make test` leaves out: whole contracts, examples, exhaustive searches
	$(SINGLE) $(BIN)/python -m pytest -q -n 2 --dist worksteal -m slow --timeout 900 $(SHAPES)

# the whole of what CI samples: `make test-slow` by itself draws 200 hostile inputs, kills 10 fits, and takes one in six checks of
# estimators with networks of full size
test-all: export UNMIX_CONTRACTS = all
test-all: export UNMIX_HOSTILE = 5000
test-all: export UNMIX_KILLS = 1000
test-all: test test-slow  ## both, with every check of every estimator, 5,000 hostile inputs and 1,000 kills (hours)

test-lowest:  ## a fast part of the tests with the lowest versions that pyproject.toml allows, in .venv-lowest
	test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	$(PYTHON) tools/lowest.py pyproject.toml > .venv-lowest/lowest.txt
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check -r .venv-lowest/lowest.txt pytest pytest-timeout hypothesis
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check --no-deps -e .
	$(SINGLE) .venv-lowest/bin/python -m pytest -q -m "not slow" -W default tests/structure tests/rows/test_rows.py tests/metrics/test_metrics_mcc.py tests/theory/test_theory_certify.py tests/estimators/test_estimators_storage.py

smoke: $(VENV)/.dev  ## every table of the papers at the smallest budget; fails where a cell does or is missing
	rm -rf out/smoke
	$(SINGLE) $(BIN)/unmix reproduce all --budget smoke --seeds 1 --workers 2 --strict --out out/smoke
	$(BIN)/unmix report out/smoke

results: $(VENV)/.core  ## write what results/ holds into results/README.md, and the tables and pictures of docs/
	$(BIN)/unmix report results --out results/README.md --force
	$(BIN)/unmix report results --out docs/results.md
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/img/draw_results.py

check: lint types imports test  ## everything a change must pass

lint: $(VENV)/.dev  ## ruff: format and rules
	$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: $(VENV)/.dev  ## mypy
	$(BIN)/mypy

imports: $(VENV)/.dev  ## import-linter: rooms and doors
	$(BIN)/lint-imports

bench: $(VENV)/.dev  ## speed against peers, as ratios of one run
	$(BIN)/python benchmarks/jacobian.py
	$(BIN)/python benchmarks/certify.py --quick
	$(BIN)/python benchmarks/mechanisms.py --quick
	$(BIN)/python benchmarks/metrics.py --quick
	$(BIN)/python benchmarks/compare.py --quick
	$(BIN)/python benchmarks/tables.py --quick
	$(BIN)/python benchmarks/trust.py
	$(BIN)/python benchmarks/ica.py --repeats 1
	$(BIN)/python benchmarks/training.py --quick
	$(BIN)/python benchmarks/reproduce.py --quick
	$(BIN)/python benchmarks/slots.py
	$(BIN)/python benchmarks/together.py --quick
	$(BIN)/python benchmarks/threads.py --quick
	$(BIN)/python benchmarks/deconfound.py
	$(BIN)/python benchmarks/effort.py --quick

docs: $(VENV)/.docs  ## build the documentation into site/, and check every link
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python tools/links.py site

tutorials: $(VENV)/.dev  ## run the tutorials, and write their notebooks with what they print
	$(SINGLE) $(BIN)/python -W error tools/notebooks.py docs/tutorials/*.py

golden: $(VENV)/.dev  ## rewrite the golden tables after a change that is meant to move them
	$(SINGLE) UNMIX_GOLDEN=write $(BIN)/python -m pytest -q tests/golden

lock: $(VENV)/.dev $(VENV)/.docs  ## write exact versions and digests of what is installed: constraints.txt, requirements.lock
	$(BIN)/python tools/lock.py

lock-check: $(VENV)/.dev  ## compare the digests of the lock with what the index would hand over now
	$(BIN)/python tools/lock.py --check

sbom: $(VENV)/.core  ## write a bill of materials, CycloneDX JSON, of what is installed: out/sbom.json
	$(BIN)/python tools/sbom.py out/sbom.json

clean:  ## remove the environment and everything built
	rm -rf $(VENV) .venv-lowest out site build dist
