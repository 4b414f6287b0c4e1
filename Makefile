# dpsco_bench. `make replicate` does everything; `make help` lists the rest.
PYTHON ?= python3
PROFILE ?= ci
DATA_ROOT ?=
CORES ?=
ARGS ?=

# Processes are the workflow's; a BLAS that starts threads of its own only slows the jobs beside it.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1

bin := .venv/bin
# Words for the shell, whatever they hold. Make's own `abspath` takes a folder with a space for two.
quoted = '$(subst ','\'',$1)'
absolute = $(if $(word 2,$1),$(if $(filter /%,$(firstword $1)),,$(CURDIR)/)$1,$(abspath $1))
config = $(call quoted,profile=$(PROFILE)) $(if $(DATA_ROOT),$(call quoted,data_root=$(call absolute,$(DATA_ROOT))))
# What Snakemake takes is checked here, since it takes 0 too and then waits for ever.
digits = $(subst 0,,$(subst 1,,$(subst 2,,$(subst 3,,$(subst 4,,$(subst 5,,$(subst 6,,$(subst 7,,$(subst 8,,$(subst 9,,$1))))))))))
bad_number = $(if $(subst 0,,$(CORES)),$(call digits,$(CORES)),zero)
bad_cores = $(or $(word 2,$(CORES)),$(if $(filter-out all,$(CORES)),$(bad_number)))
$(if $(bad_cores),$(error CORES = $(CORES): must be an integer >= 1, or all))
snakemake = $(bin)/snakemake $(if $(CORES),--cores $(CORES)) --config $(config) --

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help .venv test test-slow fuzz same same-full same-whole replicate smoke verdicts compare site gc lint format peers cluster slurm-test mutants lock clean gpu-pack gpu-check

help:
	@echo 'make .venv       the environment alone, from requirements/lock.txt; the other targets build it where it is not there'
	@echo 'make replicate [PROFILE=smoke|ci|full] [DATA_ROOT=DIR] [CORES=N]'
	@echo '                 build .venv, run the whole workflow, print how the papers stand and the path of the site'
	@echo 'make test        build .venv and run the tests (ARGS="-k philox" goes to pytest)'
	@echo 'make test-slow   the tests that take more than a few seconds each; .ci/run runs both, without those marked long'
	@echo 'make fuzz        odd words, files and arguments by the thousand (EXAMPLES=3000 in all)'
	@echo 'make same        after an edit: a finished run of ci against the record, in numbers, bytes, tables and transcripts'
	@echo 'make same-full   every job of ci anew, against the bytes of the store'
	@echo 'make same-whole  all replicates of the claims of ci, against the words of the run in stages'
	@echo 'make smoke       the workflow on profile smoke'
	@echo 'make verdicts    every verdict of the last run of PROFILE'
	@echo 'make compare     the recorded verdicts of PROFILE against the last run'
	@echo 'make site        the site of PROFILE, results/PROFILE/site, and one file to mail beside it'
	@echo 'make gpu-pack    plans and scales for a machine with a GPU, in results/gpu'
	@echo 'make gpu-check   there, with that folder and its own PYTHON: a card against a core, in results/gpu/report.md'
	@echo '                 (EMULATED=1: without a card, which the report then says)'
	@echo 'make mutants     try every seeded defect (tests/mutants); ARGS="NAME ..." tries some'
	@echo 'make lint        formatting, ruff and mypy; make format applies the formatting'
	@echo 'make peers       JAX and PyTorch, which `dpsco bench` compares with where they are'
	@echo 'make cluster     what docs/cluster.md needs: an executor for SLURM, launchers for Hydra'
	@echo 'make slurm-test  profile smoke on a SLURM of one node that this starts (Debian: slurm-wlm, munge): the same bytes?'
	@echo 'make gc          remove the results that no plan names'
	@echo 'make lock        resolve requirements/ anew (UPGRADE=1: to the newest versions)'
	@echo 'make clean       remove results, figures and caches; keeps .venv and the data sets'
	@echo 'PYTHON=python3.12 chooses the interpreter that .venv is built with'

# --- environment -----------------------------------------------------------------------------------
# A stamp is written last: an interrupted build has none and starts again, a changed lock outdates it. Of an environment
# that was removed in part, or whose Python is gone, a stamp may be left: it counts only where that Python starts.
.venv: .venv/.compiled

unusable = $(if $(wildcard .venv/.lock),$(shell $(bin)/python -c 'import pip' >/dev/null 2>&1 || echo anew))

.PHONY: anew
anew:

.venv/.lock: requirements/build.txt requirements/lock.txt $(unusable)
	@command -v $(PYTHON) >/dev/null || { echo 'PYTHON = $(PYTHON): no such command' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; (3, 11) <= v[:2] < (3, 14) or sys.exit("PYTHON = $(PYTHON): is Python %d.%d, must be >= 3.11 and < 3.14 (try PYTHON=python3.12)" % v[:2])'
	@echo 'building .venv from requirements/lock.txt (a minute or two) ...'
	@rm -rf .venv
	@$(PYTHON) -m venv .venv
	@$(bin)/python -m pip install --quiet --require-hashes -r requirements/build.txt
	@$(bin)/python -m pip install --quiet --require-hashes --no-build-isolation -r requirements/lock.txt
	@touch $@

.venv/.package: .venv/.lock pyproject.toml dpsco_bench/__init__.py
	@$(bin)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# On all cores at once: jobs would compile the same loop each for itself.
.venv/.compiled: .venv/.package
	@echo 'compiling loops (half a minute) ...'
	@$(bin)/python -c 'from dpsco_bench.bench.fused_pairs import compile_ahead; compile_ahead()'
	@touch $@

# --- running ---------------------------------------------------------------------------------------
replicate: .venv
	@$(snakemake)

smoke: override PROFILE = smoke
smoke: .venv
	@$(snakemake)

site: .venv
	@$(snakemake) $(call quoted,results/$(PROFILE)/site/index.html)
	@$(bin)/python -m dpsco_bench site --profile $(call quoted,$(PROFILE)) --single

gc: .venv
	@$(snakemake) gc

verdicts: .venv
	@$(bin)/python -m dpsco_bench gate --profile $(call quoted,$(PROFILE))

compare: .venv
	@$(bin)/python -m dpsco_bench compare --profile $(call quoted,$(PROFILE))

# --- checking --------------------------------------------------------------------------------------
pytest = OPENBLAS_NUM_THREADS=1 $(bin)/python -m pytest -n logical --dist loadfile --no-loadscope-reorder
test: .venv
	@$(pytest) -m 'not slow' $(ARGS)

# Whole workflows that are killed, damaged and edited, every paper left out in turn, kernels for three cards, long audits.
test-slow: .venv
	@$(pytest) -m slow $(ARGS)

# Examples are shared by the tests there, and are others each time; `make test` has some 300, always the same.
EXAMPLES ?= 3000
FUZZED = $(words $(shell grep -h '^@given' tests/fuzz/test_*.py | cut -c1-6))
fuzz: .venv
	@DPSCO_FUZZ=$$(( $(EXAMPLES) / $(FUZZED) )) $(bin)/python -m pytest -n logical tests/fuzz $(ARGS)

# Whose claims a card judges: those of which most of a run is loops with kernels of their own, as far as they are there.
GPU_PAPERS = $(notdir $(wildcard $(addprefix dpsco_bench/papers/,wang2017 zhang2022)))
gpu-pack: .venv
	@$(bin)/python -m tests.device.gpu pack $(if $(strip $(GPU_PAPERS)),--papers $(GPU_PAPERS))

# A machine with a GPU has no network, hence no .venv: what is there already is used. EMULATED=1 needs no GPU either:
# kernels run over the tests' emulation, and the report says so.
gpu-check:
	@PYTHONPATH=.$(if $(EMULATED),:tests/device/path) $(PYTHON) -m tests.device.gpu check $(ARGS)

# After an edit that should change no number; needs a finished run of ci, on the same data. A dry run makes the plan anew.
same: ARGS ?=
same-full: ARGS = --all
same-whole: ARGS = --whole
same same-full same-whole: .venv
	@$(bin)/snakemake --dry-run --quiet --config $(config) -- all > /dev/null
	@$(bin)/python -m tests.same $(ARGS)

lint: .venv
	$(bin)/ruff format --check .
	$(bin)/ruff check .
	$(bin)/mypy

format: .venv
	$(bin)/ruff format .
	$(bin)/ruff check --fix .

# A SLURM of one node on the loopback interface, for the time of the test; says why where it cannot start.
slurm-test: .venv
	@$(bin)/python -m tests.cluster.slurm_smoke

# Every defect in a copy of the repository, one at a time, and the one test that catches it.
mutants: .venv
	@$(bin)/python -m tests.mutants $(ARGS)

# --- measuring -------------------------------------------------------------------------------------
peers: .venv
	@$(bin)/python -m pip install --quiet --require-hashes -r requirements/peers.txt
	@$(bin)/python -m pip install --quiet -r requirements/torch.txt

cluster: .venv
	@$(bin)/python -m pip install --quiet --require-hashes -r requirements/cluster.txt

# --- maintenance -----------------------------------------------------------------------------------
# Releases of the last fortnight are left out: mirrors may not have them yet, and bad ones get withdrawn.
compile = pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-header --no-annotate --exclude-newer "14 days" $(if $(UPGRADE),--upgrade)

lock:
	@tools=$$(mktemp -d) && trap 'rm -rf "$$tools"' EXIT && \
	$(PYTHON) -m venv "$$tools" && "$$tools/bin/python" -m pip install --quiet uv && \
	"$$tools/bin/uv" $(compile) --extra dev pyproject.toml --output-file requirements/lock.txt && \
	"$$tools/bin/uv" $(compile) --constraint requirements/lock.txt requirements/build.in \
		--output-file requirements/build.txt && \
	"$$tools/bin/uv" $(compile) --constraint requirements/lock.txt requirements/peers.in \
		--output-file requirements/peers.txt && \
	"$$tools/bin/uv" $(compile) --constraint requirements/lock.txt requirements/cluster.in \
		--output-file requirements/cluster.txt
	@! grep -nE '://|^--|^-f' $(addprefix requirements/,lock.txt build.txt peers.txt cluster.txt)

clean:
	rm -rf results figures/smoke figures/ci figures/full .snakemake outputs multirun dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
