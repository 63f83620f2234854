# Everything works on a fresh machine: the first command makes .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.cpp native/src/*.hpp native/src/*/*.hpp native/CMakeLists.txt)
# An editable installation knows the files that were there when it was made, so that a new or moved module needs a new
# one: the stamp carries the checksum of the list of files.
FILES := $(shell find src/kohorte -type f ! -name '*.pyc' ! -name '*.so' | LC_ALL=C sort | cksum | cut -d ' ' -f 1)
STAMP := $(VENV)/.installed-$(FILES)
SOURCES := src tests testbed benchmarks
WORKERS ?= 2
# Compiled modules are kept, also where the environment says otherwise: tests start many processes that read them.
unexport PYTHONDONTWRITEBYTECODE
# Workers get neighbouring tests, so that fixtures of modules are made once, and take over from each other at the end.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

# What failed is run once more, one test after the other: tests that start, kill and time processes can fail because the
# machine is overloaded. Both results are printed, hypothesis repeats the example that failed, and the second one counts.
ONCE_MORE = || $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none

.PHONY: setup demo serve test test-long test-exhaustive quick check check-native native-test postgresql browser spark catalogues screenshots reference-smoke reference-test fix \
  bench reproduce clean

setup: $(STAMP)

$(STAMP): pyproject.toml $(NATIVE)
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@$(BIN)/python -c "from kohorte.kernels import KERNELS; print('kohorte installed, kernels:', KERNELS)"
	@rm -f $(VENV)/.installed*
	@touch $@

demo: setup
	$(BIN)/kohorte demo --force

serve: setup
	$(BIN)/kohorte demo --serve --force

# Within ten minutes on two cores: everything but the tests marked slow, and a few on the NumPy kernels.
test: setup
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check native-test postgresql browser
	$(PYTEST) -m "not slow" $(ONCE_MORE) -m "not slow"
	@$(MAKE) --no-print-directory reference-smoke

# Tests that start Spark run in one process, so that it is started once.
ON_SPARK = tests/unit/sources/spark tests/contracts/test_sources.py

LONG = -m "(slow or hypothesis) and not spark and not exhaustive" --hypothesis-profile thorough

# What needs longer: the tests marked slow, properties with all examples, and the suite on the NumPy kernels.
test-long: setup postgresql browser spark
	$(PYTEST) $(LONG) $(ONCE_MORE) $(LONG)
	$(BIN)/python -m pytest -q -m spark $(ON_SPARK)
	@$(MAKE) --no-print-directory reference-test

# What repeats the long tests for many more cases: more than CI has time for.
test-exhaustive: setup postgresql
	$(PYTEST) -m exhaustive

# The twins are compared call by call in tests/unit/kernels; this shows that whole releases work on the NumPy kernels.
reference-smoke: setup
	KOHORTE_KERNELS=reference $(PYTEST) -m "not slow" \
	  tests/unit/kernels/test_choice.py tests/cases/test_worked_example.py tests/cases/test_published_searches.py

# The suite again on the NumPy kernels, without the slow tests, which are about large tables, and without what does not
# depend on kernels: the service and its screens, queries with noise, surveys, patients, pseudonyms, the project itself.
WITHOUT_KERNELS = unit/service unit/dp unit/survey unit/patients unit/pseudonyms unit/envelopes unit/trust unit/languages \
  end_to_end/service end_to_end/screens docs meta
# Many tables with least_loss take minutes in NumPy; unit/kernels compares its twins, the contract of recoders runs it.
SLOW_IN_NUMPY = unit/recoding/test_least_loss.py properties/test_least_loss.py
reference-test: setup
	KOHORTE_KERNELS=reference $(PYTEST) -m "not slow" $(SLOW_IN_NUMPY:%=--ignore tests/%) $(WITHOUT_KERNELS:%=--ignore tests/%)

# The tests of `make test` alone, on the compiled kernels.
quick: setup postgresql browser
	$(PYTEST) -m "not slow"

check: setup
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
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
	  ctest --test-dir build/tests --parallel 2 --output-on-failure; \
	else echo "no C++ compiler or cmake: the C++ tests are left out"; fi

# The tests of the service start a PostgreSQL of their own; this makes sure that there is one to start.
postgresql:
	@if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "installing PostgreSQL for the tests"; \
	  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql; } \
	    >/dev/null 2>&1 || echo "PostgreSQL could not be installed: the tests on it are skipped"; \
	else echo "PostgreSQL is not installed: the tests on it are skipped"; fi

# Tests of the web interface drive Debian's Chromium, with axe-core for accessibility; without one they are skipped.
browser:
	@command -v chromium >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  echo "installing Chromium for the tests" && \
	  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium \
	    fonts-dejavu-core; } >/dev/null 2>&1 || echo "there is no Chromium: the tests in a browser are skipped"; }
	@test -f build/browser/node_modules/axe-core/axe.min.js || { command -v npm >/dev/null && \
	  npm install --silent --no-fund --no-audit --prefix build/browser axe-core >/dev/null 2>&1 || \
	  echo "axe-core could not be installed: its tests are skipped"; }

# Tests of tables in Spark start one, with two workers; they run in `make test-long` only.
spark: setup
	@command -v java >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  echo "installing Java for the tests" && \
	  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
	    openjdk-17-jre-headless; } >/dev/null 2>&1 || echo "there is no Java: the tests on Spark are skipped"; }
	@$(BIN)/python -c "import pyspark, grpc" 2>/dev/null || { echo "installing Spark for the tests" && \
	  $(BIN)/python -m pip install --quiet "pyspark[connect]>=4.0" >/dev/null 2>&1 || \
	  echo "Spark could not be installed: its tests are skipped"; }

# The texts of pages, collected for the catalogues of other languages.
catalogues: setup
	$(BIN)/python -m testbed.catalogue

# Pictures of every screen for the documentation: both languages, light and dark, desktop and phone.
screenshots: setup browser
	$(BIN)/python -m testbed.screenshots

fix: setup
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

bench: setup
	$(BIN)/python -m benchmarks

# The published evaluations repeated, into docs/benchmarks; ARGS=--full runs the slow searches, too.
reproduce: setup
	@$(BIN)/python -c "import matplotlib" 2>/dev/null || $(BIN)/python -m pip install --quiet "matplotlib>=3.9"
	$(BIN)/python -m benchmarks survey $(filter --render-only --check,$(ARGS))
	$(BIN)/python -m benchmarks reproduce $(ARGS)

clean:
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis kohorte-demo
