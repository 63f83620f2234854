# Everything works on a fresh machine: the first command makes .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NATIVE := $(wildcard native/*.cpp native/src/*.hpp native/CMakeLists.txt)
PACKAGES := $(wildcard src/kohorte/*/__init__.py src/kohorte/*/*/__init__.py)
WORKERS ?= 2

.PHONY: setup demo test quick check check-native native-test reference-test fix bench reproduce clean

setup: $(STAMP)

$(STAMP): pyproject.toml $(NATIVE) $(PACKAGES)
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@$(BIN)/python -c "from kohorte.kernels import KERNELS; print('kohorte installed, kernels:', KERNELS)"
	@touch $@

demo: setup
	$(BIN)/kohorte demo --force

test: check native-test
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -q
	$(MAKE) --no-print-directory reference-test

# The suite again on the NumPy kernels, without the slow tests, which are about large tables.
reference-test: setup
	KOHORTE_KERNELS=reference $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -q -m "not slow"

quick: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -q -m "not slow"

check: setup
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory check-native

# C++ warnings are errors, in the kernels and in their Python face.
check-native: setup
	@if command -v c++ >/dev/null; then \
	  c++ -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Inative/src \
	    -isystem $$($(BIN)/python -m nanobind --include_dir) \
	    -isystem $$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('include'))") native/bindings.cpp && \
	  echo "C++: no warnings"; \
	else echo "no C++ compiler: the C++ check is left out"; fi

# C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer, warnings as errors.
native-test: setup
	@if command -v c++ >/dev/null && command -v cmake >/dev/null; then \
	  cmake -S native -B build/tests -DKOHORTE_TESTS=ON >/dev/null && cmake --build build/tests --parallel 2 && \
	  ctest --test-dir build/tests --output-on-failure; \
	else echo "no C++ compiler or cmake: the C++ tests are left out"; fi

fix: setup
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix src tests benchmarks

bench: setup
	$(BIN)/python -m benchmarks

# The evaluation of the source anew, into docs/benchmarks; ARGS=--full runs the slow searches, too.
reproduce: setup
	@$(BIN)/python -c "import matplotlib" 2>/dev/null || $(BIN)/python -m pip install --quiet "matplotlib>=3.9"
	$(BIN)/python -m benchmarks reproduce $(ARGS)

clean:
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis kohorte-demo
