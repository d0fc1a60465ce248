# make demo             run the main job: one entry on real data, beside scikit-learn, in a table and a picture
# make test             run the whole test suite
# make lint             check style, format and prose
# make types            check types
# make format           rewrite style and format
# make docs             make a site of docs/, the examples and the docstrings in site/; runs every example
# make docs-serve       open the site in a browser
# make test-site        check the built site: links, formulas, pages in a browser, notebooks, and the code of guides
# make test-frameworks  test neurons of torch and JAX, torch tensors, River, skops, MLflow and ONNX (installs them)
# make test-dask        test learning on a Dask cluster (installs Dask)
# make test-oldest      tests that versions of other libraries may break, on the oldest ones supported
# make test-pythons     the same tests on the other versions of Python that are here, of 3.11 to 3.14
# make api              print the public names, their parameters, and how many there are
# make dist             build wheel and sdist of the last commit into dist/
# make clean            remove what the other targets made
#
# "make help-all" prints the others, and benchmarks/Makefile has the benchmarks, as in "make bench-peers".
# Each target makes the virtual environment it needs. PYTHON and VENV may be set, and PROCESSES, in which tests run.

# Less often:
# make test-kernels     laws that hold up to rounding, under each kernel of OpenBLAS that this processor has
# make test-aeon        cross-validation, pipelines and forecasts of aeon and sktime (installs them)
# make test-gpu         the tests of a graphics card, which are skipped with a message where there is none
# make fuzz-files       30,000 damaged or hostile files of models: refused, or loaded and used without harm
# make fuzz-inputs      eight thousand odd inputs and tables, which must be answered rightly or refused with a remedy
# make fuzz-exports     200 random models in C, under sanitizers, and in JavaScript, beside their answers in Python
# make coverage         lines and branches that the tests run, of all suites together (installs their needs)
# make mutants          small errors in the core, and how many of them the tests notice
# make locked           install what requirements/ci.txt says, by version and hash
# make lock             renew requirements/ci.txt with today's versions
# make check-dist       check that they build the same twice, and install and work offline
# make tables           write the tables of README and docs from the stored results
# make pictures         draw the pictures of the benchmarks from the stored results

# What depends on the versions of Python, NumPy, SciPy, scikit-learn and pandas: the laws, scikit-learn's checks,
# states and golden files, rows in every container, and the command line.
MOVED_BY_VERSIONS = tests/test_laws.py tests/test_sklearn.py tests/arrays/test_states.py tests/arrays/test_growing.py \
	tests/files/test_format.py tests/functions/test_stream.py tests/learners/test_validation.py tests/rows \
	tests/cli/test_commands.py

# What needs torch, JAX, River, skops, MLflow and ONNX, and what needs Dask.
FRAMEWORKS = tests/frameworks src/trickless/neurons/from_torch.py src/trickless/neurons/from_jax.py \
	src/trickless/river src/trickless/export/pipelines.py
CLUSTERS = tests/dask src/trickless/dask

# What holds up to rounding, and the kernels of OpenBLAS that this processor can run. Those of Zen are Haswell's.
UP_TO_ROUNDING = tests/arrays/test_kernels.py tests/functions/test_network.py \
	tests/test_laws.py::test_an_answer_does_not_depend_on_the_rows_beside_it
HAS = $(shell grep -qsw $(1) /proc/cpuinfo && echo $(2))
KERNELS = $(call HAS,pni,Prescott) $(call HAS,avx2,Haswell) $(call HAS,avx512vl,SkylakeX)

PYTHON ?= python3
VENV ?= .venv
OLDEST_VENV ?= $(VENV)-oldest
AEON_VENV ?= $(VENV)-aeon
# The versions of Python that are supported. Those above 3.11 know newer versions of NumPy and SciPy.
PYTHONS ?= 3.11 3.12 3.13 3.14
BIN = $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PROCESSES ?= 2
# Tests start many processes, which read what the first of them has compiled.
export PYTHONDONTWRITEBYTECODE =

# Every target that the lists above name is no file.
.PHONY: help help-all $(shell sed -n 's/^. make \([a-z-]*\) .*/\1/p' Makefile)

demo: $(VENV)/.demo
	$(BIN)/trickless demo

help:
	@sed -n 's/^# \{0,1\}//p; /^$$/q' Makefile

help-all:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile benchmarks/Makefile

# Benchmarks share the virtual environment and the stamps of this file.
bench-% count-%:
	$(MAKE) --no-print-directory -f benchmarks/Makefile $@

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile

# With two threads, which large products take and small ones do not; the other tests have one.
test-kernels: $(VENV)/.test
	@for kernel in $(KERNELS); do echo "$$kernel"; \
		OPENBLAS_CORETYPE=$$kernel OPENBLAS_NUM_THREADS=2 \
		$(BIN)/python -m pytest --quiet -n $(PROCESSES) $(UP_TO_ROUNDING) || exit; done

test-frameworks: $(VENV)/.test-frameworks
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile $(FRAMEWORKS)

test-gpu: $(VENV)/.test-frameworks
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest -rs -k cuda tests/frameworks/test_torch_arrays.py \
		tests/frameworks/test_array_api.py tests/frameworks/test_crossings.py

# A virtual environment of its own: versions are constrained, so that no other target may share it.
test-oldest: export PIP_CONSTRAINT = $(CURDIR)/requirements/oldest.txt
test-oldest:
	$(MAKE) --no-print-directory $(OLDEST_VENV)/.test VENV=$(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python -m pytest -n $(PROCESSES) --dist loadfile $(MOVED_BY_VERSIONS)

test-pythons:
	@for version in $(filter-out $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'),$(PYTHONS)); do \
		$(MAKE) --no-print-directory test-python-$$version || exit; done

# A virtual environment of its own, with the newest versions that requirements/ci.txt knows for that Python.
test-python-%:
	@if python=$$(.ci/find-python $*); then \
		$(MAKE) --no-print-directory locked VENV=$(VENV)-$* PYTHON=$$python && \
		$(MAKE) --no-print-directory $(VENV)-$*/.test VENV=$(VENV)-$* && \
		$(VENV)-$*/bin/python -m pytest -n $(PROCESSES) --dist loadfile $(MOVED_BY_VERSIONS); \
	else echo "There is no Python $* here: nothing is tested on it. Remedy: uv python install $*, or pyenv install $*."; fi

test-dask: $(VENV)/.test-dask
	$(BIN)/python -m pytest $(CLUSTERS)

# A virtual environment of its own, which make bench-series uses as well.
test-aeon:
	$(MAKE) --no-print-directory $(AEON_VENV)/.test-aeon VENV=$(AEON_VENV)
	$(AEON_VENV)/bin/python -m pytest tests/aeon

fuzz-exports: $(VENV)/.test
	$(BIN)/python tests/support/fuzz_exports.py 200

fuzz-files: $(VENV)/.test
	$(BIN)/python -W error tests/support/mutated_files.py 12000
	$(BIN)/python tests/support/used_files.py 15000 0 0 compiled
	$(BIN)/python tests/support/used_files.py 3000 1 0 checked

fuzz-inputs: $(VENV)/.test
	$(BIN)/python tests/support/fuzz_inputs.py 5000
	$(BIN)/python tests/support/fuzz_batches.py 1500

coverage: $(VENV)/.coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage run -m pytest $(FRAMEWORKS)
	$(BIN)/coverage run -m pytest $(CLUSTERS)
	$(BIN)/coverage combine
	$(BIN)/coverage report

mutants: $(VENV)/.mutants
	$(BIN)/python benchmarks/mutants.py

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/lint-prose

types: $(VENV)/.lint
	$(BIN)/mypy

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	rm -rf site docs/reference/generated docs/reference/backreferences docs/tutorial docs/gallery
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs site

docs-serve:
	@test -f site/index.html || $(MAKE) --no-print-directory docs
	$(PYTHON) -c 'import webbrowser; webbrowser.open("http://127.0.0.1:8000")'
	$(PYTHON) -m http.server --bind 127.0.0.1 --directory site 8000

test-site: $(VENV)/.test $(VENV)/.docs
	$(BIN)/python -m pytest tests/site

locked: $(VENV)/.locked

lock: $(VENV)/.dist
	$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --no-annotate --python-version 3.11 \
		--extra test --extra lint --extra dist --custom-compile-command "make lock" \
		--output-file requirements/ci.txt pyproject.toml

api: $(VENV)/.test
	$(BIN)/python tests/support/api.py

dist: $(VENV)/.locked
	.ci/dist $(BIN)/python dist

check-dist: $(VENV)/.locked
	.ci/check-dist $(BIN)/python

tables: $(VENV)/.plot
	$(BIN)/python benchmarks/render.py

pictures: $(VENV)/.plot
	$(BIN)/python benchmarks/redraw.py

# One stamp an extra of pyproject.toml: $(VENV)/.test has the package and its extra "test".
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

$(VENV)/.locked: requirements/ci.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/ci.txt
	touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("trickless needs Python 3.11 or later, but $(PYTHON) is %d.%d. Remedy: make PYTHON=python3.11 ..." % v[:2])'
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) $(OLDEST_VENV) $(AEON_VENV) $(PYTHONS:%=$(VENV)-%) build dist .mypy_cache .pytest_cache .ruff_cache site docs/reference/generated docs/reference/backreferences docs/tutorial docs/gallery
