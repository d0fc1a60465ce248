# make demo          run the main job: three learners on real data, a table and a picture
# make test          run the whole test suite
# make test-kernels  laws that hold up to rounding, under each kernel of OpenBLAS that this processor has
# make test-dask     test learning on a Dask cluster (installs Dask)
# make test-aeon     cross-validation, pipelines and forecasts of aeon and sktime (installs them)
# make test-oldest   tests that versions of other libraries may break, on the oldest ones supported
# make test-pythons  the same tests on the other versions of Python that are here, of 3.11 to 3.14
# make test-frameworks  test neurons of torch and JAX, torch tensors, River, skops, MLflow and ONNX (installs them)
# make test-gpu      the tests of a graphics card, which are skipped with a message where there is none
# make fuzz-files    30,000 damaged or hostile files of models: refused, or loaded and used without harm
# make fuzz-inputs   eight thousand odd inputs and tables, which must be answered rightly or refused with a remedy
# make coverage      lines and branches that the tests run, of all suites together (installs their needs)
# make mutants       small errors in the core, and how many of them the tests notice
# make lint          check style, format and prose
# make types         check types
# make format        rewrite style and format
# make docs          make a site of docs/, the examples and the docstrings in site/; runs every example
# make docs-serve    open the site in a browser
# make test-site     check the built site: links, formulas, pages in a browser, notebooks, and the code of guides
# make bench-demo    run the demo and keep its picture and numbers for the README
# make bench-exact   compare Shrinking Gradient with descent on the exact kernel
# make bench-dask    two Dask workers against one, and the bytes between them
# make bench-alpha    the error at the alpha of Kitchen Sinks beside that at the best alpha
# make bench-auto         neurons="auto" beside each of the families it chooses from
# make bench-bayesian-optimisation  minima of functions, beside a Gaussian process
# make bench-boosted      trees as neurons beside boosted trees, on raw tables
# make bench-candidates   trees between drawn blindly and chosen: the best of 1 to 100 draws
# make bench-seeds        the mean of models of several seeds: what it gives and costs
# make bench-command-line  twenty million rows of a file through the command line
# make bench-counts     counts and positive numbers beside boosted trees and linear models
# make bench-convergence  the rate 1/t of Doubly Stochastic
# make bench-drift      detection of drift beside River's detectors: false alarms and delays
# make bench-estimators   index, stratified and full estimates, and what "auto" takes
# make bench-features     random features beside scikit-learn's approximations, and what stands on them
# make bench-frequencies  errors of kernels by each way of drawing frequencies
# make bench-few-rows     seconds and errors along the number of rows, from 50 on
# make bench-gaussian-process  a Gaussian process on a million rows, beside the exact one
# make bench-growth       time against rows, inputs and neurons; time of an import
# make bench-gpu        a graphics card beside bare torch; says so where there is none
# make bench-gpu-aims   in 4 minutes, whether a graphics card is as near to bare torch as it should be
# make count-gpu        operations and transfers of a step on a card, counted without one
# make bench-images       MNIST by random convolutions
# make bench-image-sets   one layer of convolutions and two on other images than MNIST
# make bench-intervals    prediction intervals: how often they hold targets, and how wide they are
# make bench-kitchen-sinks  ten million rows of a stream through Kitchen Sinks; the bound of the theorem
# make bench-latency      the time of one row beside other libraries, and streams beside River's learners
# make bench-limits       hot paths against their bare arithmetic
# make bench-networks     MNIST by whole convolutional networks as neurons, in all three learners
# make bench-online-images  MNIST online by random convolutions, whose kernel nobody knows
# make bench-papers       the papers' experiments
# make bench-peers        other libraries on the same data, along each one's own size
# make bench-prediction   activations that predictions take, against Algorithm 2
# make bench-quantiles   several quantiles of one fit beside a boosted model for each
# make bench-regret       regret of Shrinking Gradient against its bound
# make bench-relevance    length scales of features by how much they matter
# make bench-series       convolutions of time series beside those of aeon; PARTS="accuracy" for some of it
# make bench-poolings     ways of pooling responses along series
# make bench-forecasting  forecasts of two series beside the last season and boosted trees
# make bench-small-tables  65 small tables with nothing set: ours beside boosted trees and a forest
# make bench-solvers      the direct and the iterative solver of Kitchen Sinks, and what choosing costs
# make bench-stream       a million rounds with a bounded support
# make bench-two-samples  tests of hypotheses beside those with the exact kernel
# make bench-streams      streams that drift, row by row, beside River's learners
# make bench-tables       Adult as a data frame, against trees
# make locked        install what requirements/ci.txt says, by version and hash
# make lock          renew requirements/ci.txt with today's versions
# make api           print the public names, their parameters, and how many there are
# make dist          build wheel and sdist of the last commit into dist/
# make check-dist    check that they build the same twice, and install and work offline
# make tables        write the tables of README and docs from the stored results
# make pictures      draw the pictures of the benchmarks from the stored results
# make clean         remove what the other targets made
#
# Each target makes the virtual environment it needs. PYTHON and VENV may be set, and PROCESSES, in which tests run.

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
BIN = $(VENV)/bin
PROCESSES ?= 2
# Tests start many processes, which read what the first of them has compiled.
export PYTHONDONTWRITEBYTECODE =

# Every target that the list above names is no file.
.PHONY: help $(shell sed -n 's/^. make \([a-z-]*\) .*/\1/p' Makefile)

demo: $(VENV)/.demo
	$(BIN)/trickless demo

help:
	@sed -n 's/^# \{0,1\}//p; /^$$/q' Makefile

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

bench-demo: $(VENV)/.demo
	$(BIN)/python benchmarks/demo.py

bench-exact: $(VENV)/.plot
	$(BIN)/python benchmarks/exact_kernel.py

bench-boosted: $(VENV)/.bench
	$(BIN)/python benchmarks/peers/boosted.py

bench-small-tables: $(VENV)/.bench
	$(BIN)/python benchmarks/peers/small_tables.py

bench-quantiles: $(VENV)/.bench
	$(BIN)/python benchmarks/quantiles.py

bench-regret: $(VENV)/.plot
	$(BIN)/python benchmarks/regret.py

bench-seeds: $(VENV)/.bench
	$(BIN)/python benchmarks/seeds.py

bench-candidates: $(VENV)/.bench
	$(BIN)/python benchmarks/candidates.py

bench-command-line: $(VENV)/.test
	$(BIN)/python benchmarks/command_line.py

bench-convergence: $(VENV)/.plot
	$(BIN)/python benchmarks/convergence.py

bench-counts: $(VENV)/.bench
	$(BIN)/python benchmarks/counts.py

bench-dask: $(VENV)/.test-dask
	$(BIN)/python benchmarks/dask_scaling.py

bench-latency: $(VENV)/.bench
	$(BIN)/python benchmarks/latency.py

bench-drift: $(VENV)/.bench
	$(BIN)/python benchmarks/drift.py

bench-estimators: $(VENV)/.plot
	$(BIN)/python benchmarks/estimators.py

bench-peers: $(VENV)/.bench
	$(BIN)/python benchmarks/peers/run.py

bench-prediction: $(VENV)/.plot
	$(BIN)/python benchmarks/prediction.py

bench-stream: $(VENV)/.plot
	$(BIN)/python benchmarks/long_stream.py

bench-streams: $(VENV)/.bench
	$(BIN)/python benchmarks/streams.py

bench-frequencies: $(VENV)/.plot
	$(BIN)/python benchmarks/frequencies.py

bench-few-rows: $(VENV)/.plot
	$(BIN)/python benchmarks/few_rows.py

bench-bayesian-optimisation: $(VENV)/.plot
	$(BIN)/python benchmarks/bayesian_optimisation.py

bench-gaussian-process: $(VENV)/.plot
	$(BIN)/python benchmarks/gaussian_process.py

bench-growth: $(VENV)/.test
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/growth.py

bench-gpu: $(VENV)/.torch
	SCIPY_ARRAY_API=1 $(BIN)/python benchmarks/gpu/run.py

# MNIST may name a NumPy archive of MNIST.
bench-gpu-aims: $(VENV)/.torch
	SCIPY_ARRAY_API=1 $(BIN)/python benchmarks/gpu/aims.py $(if $(MNIST),--mnist $(MNIST))

count-gpu: $(VENV)/.torch
	SCIPY_ARRAY_API=1 $(BIN)/python benchmarks/gpu/count.py

bench-alpha: $(VENV)/.plot
	$(BIN)/python benchmarks/alpha.py

bench-auto: $(VENV)/.plot
	$(BIN)/python benchmarks/auto.py

bench-features: $(VENV)/.plot
	$(BIN)/python benchmarks/features.py

bench-relevance: $(VENV)/.plot
	$(BIN)/python benchmarks/relevance.py

bench-intervals: $(VENV)/.bench
	$(BIN)/python benchmarks/intervals.py

bench-images: $(VENV)/.plot
	$(BIN)/python benchmarks/images.py

# CIFAR=FOLDER measures CIFAR-10 too, from images in a folder for each class.
bench-image-sets: $(VENV)/.plot
	$(BIN)/python benchmarks/image_sets.py $(if $(CIFAR),--cifar $(CIFAR))

# PARTS="seconds growth" measures time and memory only, on a machine that does nothing else.
bench-series: $(VENV)/.bench
	$(MAKE) --no-print-directory $(AEON_VENV)/.test-aeon VENV=$(AEON_VENV)
	$(BIN)/python benchmarks/series.py --aeon $(AEON_VENV)/bin/python $(if $(PARTS),--parts $(PARTS))

bench-poolings: $(VENV)/.bench
	$(BIN)/python benchmarks/poolings.py

bench-forecasting: $(VENV)/.bench
	$(BIN)/python benchmarks/forecasting.py

bench-networks: $(VENV)/.bench
	$(BIN)/python benchmarks/networks.py

bench-online-images: $(VENV)/.plot
	$(BIN)/python benchmarks/online_images.py

bench-tables: $(VENV)/.test
	$(BIN)/python benchmarks/tables.py

bench-two-samples: $(VENV)/.plot
	$(BIN)/python benchmarks/two_samples.py

bench-solvers: $(VENV)/.plot
	$(BIN)/python benchmarks/solvers.py

bench-kitchen-sinks: $(VENV)/.plot
	$(BIN)/python benchmarks/kitchen_sinks_stream.py
	$(BIN)/python benchmarks/kitchen_sinks_bound.py

bench-limits: $(VENV)/.plot
	$(BIN)/python benchmarks/limits/shrinking_gradient_round.py
	$(BIN)/python benchmarks/limits/doubly_stochastic_step.py
	$(BIN)/python benchmarks/limits/kitchen_sinks.py
	$(BIN)/python benchmarks/limits/alternatives.py

bench-papers: $(VENV)/.plot
	$(BIN)/python benchmarks/papers/livni2017.py
	$(BIN)/python benchmarks/papers/livni2017_online.py
	$(BIN)/python benchmarks/papers/dai2014.py
	$(BIN)/python benchmarks/papers/rahimi2008.py
	$(BIN)/python benchmarks/papers/rahimi2008_joint.py
	$(BIN)/python benchmarks/papers/rahimi2008_weights.py

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
$(VENV)/.%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

$(VENV)/.locked: requirements/ci.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/ci.txt
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("trickless needs Python 3.11 or later, but $(PYTHON) is %d.%d. Remedy: make PYTHON=python3.11 ..." % v[:2])'
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) $(OLDEST_VENV) $(AEON_VENV) $(PYTHONS:%=$(VENV)-%) build dist .mypy_cache .pytest_cache .ruff_cache site docs/reference/generated docs/reference/backreferences docs/tutorial docs/gallery
