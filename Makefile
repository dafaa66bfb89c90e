# Two commands for a newcomer: `make demo` and `make test`. Needs Python >= 3.11, a Rust toolchain and make.

.DEFAULT_GOAL := help
.PHONY: help setup testbed dev demo test test-rust test-python long lint lint-python lint-rust package package-sdist unpacked-sdist format docs generated gallery sizes bench bench-peers figures screenshots fuzz fuzz-budgets fuzz-capture fuzz-readers mutants kills lock clean
.DELETE_ON_ERROR:
SHELL := /bin/sh

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough; `make PYTHON=/path/to/python3 …` chooses another.
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
SCENARIO := scenarios/oc3-gsr.toml
# The testbed's program, beside the interpreter that looks for it; there is no testbed but on Linux.
EMULATOR = $(CURDIR)/$(BIN)/forebay-emulator
# What crates/python/build.rs takes into the wheel of setup: the program if it is built, so that `make package` finds
# the core compiled, and else none.
WITH_EMULATOR = FOREBAY_EMULATOR="$$(if test -x "$(EMULATOR)"; then echo "$(EMULATOR)"; else echo none; fi)"
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml' -o -name 'build.rs' 2>/dev/null)

help:
	@echo 'make demo     how large must the buffer of an OC3 line card be? (sets everything up first)'
	@echo 'make test     the tests of every language; the last lines say how many were skipped, and why'
	@echo 'make long     what takes more than minutes: tests marked long, agreement, artefacts, the wheel from the sdist, mutants, fuzz'
	@echo 'make lint     format, lints, types, import rules'
	@echo 'make docs     the pages as a site, build/docs/index.html'
	@echo 'make package  sdist and wheel, installed and tried; make package-sdist the wheel that is built from the sdist'
	@echo 'make setup    only build into .venv; then .venv/bin/forebay runs'
	@echo "make testbed  also the testbed's program, for --engine testbed; a minute, and make test does it too"
	@echo 'make dev      the core after a change of Rust, in seconds; it is slower than that of make setup'
	@echo 'make generated  reference pages, schemas and lists that are made from the models and records'
	@echo 'make mutants  a sample of changed lines: does a test fail at each?'
	@echo 'make fuzz     random scenarios for MINUTES=10, on from where it stopped; none may go wrong'
	@echo 'make fuzz-capture, fuzz-readers   hostile bytes into the readers of captures, FUZZ_S=60 seconds (of each target)'
	@echo 'make bench    speed; make figures, gallery, sizes, screenshots: what docs show; make format; make lock; make clean'

# --- setup: stamps, so that a second one has nothing to do --------------------------------------

# Two at a time: the Python packages are installed while the Rust core is compiled.
setup:
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/.built

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo 'make: no Python >= 3.11 found; install one, or say make PYTHON=/path/to/python3' >&2; exit 1; }
	@command -v cargo >/dev/null || { echo 'make: no cargo found; install a Rust toolchain (1.88 or newer)' >&2; exit 1; }
	@$(PYTHON) -m venv --without-pip $(VENV)
	@touch $@

# PIP_NO_INPUT: never stop to ask. Hashes are checked for every file that pip installs.
# --no-compile: most modules of the packages are never imported. --no-deps: the lock is whole, and where a package
# asks for `coverage[toml]`, pip would take the newest coverage instead of the locked one and stop for want of a hash.
$(VENV)/.installed: requirements.lock $(VENV)/.created
	@echo 'setup: .venv with the locked Python packages, a minute'
	@$(BIN)/python -m ensurepip >/dev/null
	@PIP_NO_INPUT=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
	    --require-hashes -r requirements.lock
	@$(BIN)/python -m compileall -q src
	@touch $@

# As maturin builds it on Linux, which then finds it built: the same command and variables. Elsewhere it links otherwise.
MATURIN := PYO3_BUILD_EXTENSION_MODULE=1 PYO3_PYTHON="$(CURDIR)/$(BIN)/python" PYTHON_SYS_EXECUTABLE="$(CURDIR)/$(BIN)/python"
SIGNATURE := import sys; print(f"{sys.implementation.name}-{sys.version_info[0]}.{sys.version_info[1]}-{64 if sys.maxsize > 2**32 else 32}bit")
$(VENV)/.compiled: $(RUST) $(VENV)/.created
	@echo 'setup: the Rust core beside them, a minute on two processors'
	@test "$$(uname)" != Linux || env -u CARGO $(WITH_EMULATOR) $(MATURIN) PYO3_ENVIRONMENT_SIGNATURE="$$($(BIN)/python -c '$(SIGNATURE)')" cargo rustc --profile release \
	    --quiet --locked --manifest-path "$(CURDIR)/crates/python/Cargo.toml" --lib -- -C strip=symbols
	@touch $@

testbed: $(VENV)/.emulator

$(VENV)/.emulator: $(RUST) $(VENV)/.created
	@echo "the testbed's program, about a minute"
	@test "$$(uname)" != Linux || { cargo build --release --locked --quiet -p forebay-emulator && \
	    install "$${CARGO_TARGET_DIR:-target}/release/forebay-emulator" $(EMULATOR); }
	@touch $@

# Where PYTHONDONTWRITEBYTECODE is set, no import keeps what it compiled, and every start compiles two hundred
# modules again. So setup imports once, without it, what commands and figures need.
COMPILE_IMPORTS = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c 'import matplotlib.backends.backend_agg, \
    matplotlib.backends.backend_svg, matplotlib.figure, scipy.special; from forebay.cli import main; main()'

# maturin speaks even when quiet, and warns of a program that is left out on purpose: it is heard where it fails.
DEVELOP = PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --locked --quiet
TO_LOG = >$(VENV)/maturin.log 2>&1 || { cat $(VENV)/maturin.log; exit 1; }

# Editable: Python sources are read where they are, so only a change of Rust or packaging builds again.
$(VENV)/.built: pyproject.toml $(RUST) $(VENV)/.installed $(VENV)/.compiled | src/forebay/scenario/inputs.py
	@echo 'setup: the package of both, ten seconds'
	@$(WITH_EMULATOR) $(DEVELOP) --release $(TO_LOG)
	@$(COMPILE_IMPORTS) size $(SCENARIO) --engine theory >/dev/null
	@touch $@

# What type checkers are told that a scenario's classes take, made from the models.
INPUTS := src/forebay/scenario/inputs.py
$(INPUTS): $(VENV)/.installed generate/scenario_inputs.py $(filter-out $(INPUTS),$(wildcard src/forebay/scenario/*.py))
	@PYTHONPATH=src $(BIN)/python -m generate scenario_inputs

# What is in the repository, but made from the models and records.
generated: setup
	@$(BIN)/python -m generate

# For who changes Rust: the same core, built in pieces, of which only the changed ones are compiled again. It is slower than
# setup's; `make setup` builds that one again.
dev: $(VENV)/.installed
	@$(WITH_EMULATOR) $(DEVELOP) --profile incremental $(TO_LOG)
	@rm -f $(VENV)/.built

# --- what a person asks for ---------------------------------------------------------------------

# Status 1 of the second line means that a row is out of its band. The table says which and why;
# a newcomer's first command need not fail over it. `forebay reproduce` itself still does.
# With these options the table's own 16 rows are as without; other readings of the set-up are left out.
demo: setup
	@mkdir -p build
	@$(BIN)/forebay size $(SCENARIO) --figure build/oc3-gsr.svg
	@echo
	@$(BIN)/forebay reproduce A.fig15 --quick --seeds 5 || test $$? -eq 1

# Two at a time: where one crate is compiled on its own, the Python tests have the other processor.
test: setup testbed
	@$(MAKE) --no-print-directory --jobs 2 test-rust test-python

# The cases of property tests hang on the test alone: a change is judged by what it changed. Without the
# variable each run draws others. Examples are left to lint-rust, which compiles them; no crate has tests in its comments.
test-rust:
	PROPTEST_RNG_SEED=1 cargo test --locked --quiet --workspace --lib --bins --tests

# Two processes, which is what the smallest machine has cores for. Beside them the tests of the testbed, one at a time: they
# run in real time, and some of what they need is the machine's. Where compiled modules may not be kept, each process that a
# test starts would compile them again.
TESTBED := tests/engines/testbed
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
test-python: setup testbed
	@mkdir -p build
	@$(PYTEST) $(TESTBED) >build/testbed.log 2>&1 & testbed=$$!; status=0; \
	    $(PYTEST) --numprocesses 2 --dist worksteal --ignore $(TESTBED) || status=$$?; \
	    wait $$testbed || status=$$?; echo; echo "the tests of the testbed:"; cat build/testbed.log; exit $$status

# What takes too long for each change. In this order: tests marked `long`, of which each has a short one beside it that
# runs with every change, engines beside each other and beside published runs among them, and the properties with all their
# examples; controllers that the conformance suite must refuse, and each
# property that a control declares; all artefacts, of which none may be out of its band; the wheel from the sdist; mutants of lines; random scenarios,
# also within budgets; mutated captures.
long: setup testbed
	FOREBAY_LONG=1 $(PYTEST) -m "long or hypothesis"
	PROPTEST_RNG_SEED=1 cargo test --locked --quiet --release -p forebay-sim conformance
	$(BIN)/forebay reproduce
	$(MAKE) --no-print-directory package-sdist mutants fuzz fuzz-budgets fuzz-capture

lint: lint-python lint-rust

lint-python: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) --quiet -m lint tests/python
	$(BIN)/lint-imports --no-cache

lint-rust:
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings

# What a user installs: the wheel, in an environment of its own. Its core and its testbed's program are those of setup, so that
# nothing is compiled twice. The sdist must have the same files, and its crates must compile: `cargo check` has their
# dependencies from lint. `make package-sdist`, of `make long`, builds and tries the wheel that is built from the sdist.
PACKAGE := build/package
TARGET = $${CARGO_TARGET_DIR:-$(CURDIR)/target}
FROM_SDIST = cd $(PACKAGE)/forebay-*/ && CARGO_TARGET_DIR="$(TARGET)" VIRTUAL_ENV="$(CURDIR)/$(VENV)"
package: testbed setup unpacked-sdist
	FOREBAY_EMULATOR="$(EMULATOR)" VIRTUAL_ENV="$(CURDIR)/$(VENV)" \
	    $(BIN)/maturin build --release --locked --quiet --out $(PACKAGE)
	$(BIN)/python .ci/same-files $(PACKAGE)/forebay-*/ $(PACKAGE)/forebay-*.whl
	$(FROM_SDIST) cargo check --locked --quiet --workspace
	$(TRY_WHEEL)

package-sdist: setup unpacked-sdist
	$(FROM_SDIST) "$(CURDIR)/$(BIN)/maturin" build --release --locked --quiet --out ..
	$(BIN)/python .ci/same-files $(PACKAGE)/forebay-*/ $(PACKAGE)/forebay-*.whl
	$(TRY_WHEEL)

unpacked-sdist: setup
	@rm -rf $(PACKAGE) && mkdir -p $(PACKAGE)
	$(BIN)/maturin sdist --out $(PACKAGE) >/dev/null
	tar -xzf $(PACKAGE)/forebay-*.tar.gz -C $(PACKAGE)

INSTALL := PIP_NO_INPUT=1 $(PACKAGE)/venv/bin/pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: \
    --constraint $(PACKAGE)/versions.txt
define TRY_WHEEL
$(PYTHON) -m venv $(PACKAGE)/venv
grep '==' requirements.lock | sed 's/ *\\$$//' > $(PACKAGE)/versions.txt
$(INSTALL) $(PACKAGE)/forebay-*.whl
$(PACKAGE)/venv/bin/python .ci/installed-size 60
.ci/try-installed "$(CURDIR)/$(PACKAGE)/venv/bin" bare
$(INSTALL) "$$(echo $(CURDIR)/$(PACKAGE)/forebay-*.whl)[report,testbed,web]"
.ci/try-installed "$(CURDIR)/$(PACKAGE)/venv/bin" all
endef

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt --all

bench: setup
	$(BIN)/python benches/speed.py

# Beside ns-2 and ns-3, where they are installed.
bench-peers: setup
	$(BIN)/python benches/peers/compare.py

# A mutated input a time into the readers of captures; `make fuzz-capture FUZZ_S=7200` for two hours.
FUZZ_S := 60
fuzz-capture:
	cargo run --release --locked --quiet -p forebay-capture --example mutate -- $(FUZZ_S) fuzz/corpus/capture

# Guided by coverage, with the address sanitizer: FUZZ_S seconds of each target, new inputs and crashes in build/fuzz.
# Needs a nightly toolchain and cargo-fuzz: `rustup toolchain install nightly; cargo install cargo-fuzz`.
FUZZ_TARGETS := capture exports datagram
fuzz-readers:
	@for target in $(FUZZ_TARGETS); do \
	    seeds=fuzz/corpus/capture; test $$target != datagram || seeds=fuzz/corpus/datagram; \
	    mkdir -p build/fuzz/$$target && \
	    cargo +nightly fuzz run --target-dir build/fuzz/target $$target build/fuzz/$$target $$seeds -- \
	        -max_total_time=$(FUZZ_S) -rss_limit_mb=2048 -timeout=10 -max_len=65536 -artifact_prefix=build/fuzz/ || exit 1; \
	done

# The pages as a site with navigation, search and the docstrings of the public names: build/docs/index.html.
# What makes the pages has a lock of its own, so that setup is quick for who does not make them.
$(VENV)/.docs: docs/requirements.lock $(VENV)/.installed
	@PIP_NO_INPUT=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
	    --require-hashes -r docs/requirements.lock
	@touch $@

docs: setup $(VENV)/.docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --jobs auto -c docs -d build/doctrees . build/docs

# Runs every notebook of the gallery again and keeps what it shows. Look at it.
gallery: setup $(VENV)/.docs
	cd docs/gallery && ../../$(BIN)/jupyter nbconvert --log-level ERROR --to notebook --execute --inplace *.ipynb

# The tables of docs/sizes: a sizing of each link, flows and mix. What no budget carries (status 3) is said there.
sizes: setup
	@mkdir -p build
	@for study in $(basename $(basename $(wildcard docs/sizes/*.scenario.toml))); do \
	    $(BIN)/forebay sweep $$study.toml --store build/sizes.sqlite --export $$study.csv || test $$? -eq 3 || exit 1; done
	$(BIN)/python docs/sizes/write.py

figures: setup
	@mkdir -p docs/images
	$(BIN)/forebay size $(SCENARIO) --figure docs/images/oc3-gsr.svg >/dev/null
	$(BIN)/forebay reproduce A.fig15 --figure docs/images/A.fig15.svg >/dev/null || test $$? -eq 1
	$(BIN)/forebay reproduce agreement.cells --figure docs/images/agreement.cells.svg >/dev/null || test $$? -eq 1
	$(BIN)/forebay reproduce agreement.shares --figure docs/images/agreement.shares.svg >/dev/null || test $$? -eq 1

# Needs chromium. Look at what it made.
screenshots: setup
	$(BIN)/python benches/workbench_pictures.py

# Does a test fail if a line is changed? A fixed sample of mutants, each by the tests that execute its line. The mutation
# libraries have an environment of their own, because nothing else needs them. MUTANTS="--sample 2" is another sample, MUTANTS="--rust 0" of Python alone.
MUTANTS :=
MUTATION := build/mutants/venv
mutants: setup testbed $(MUTATION)/.installed $(MUTATION)/bin/cargo-mutants
	PATH="$(CURDIR)/$(MUTATION)/bin:$$PATH" $(MUTATION)/bin/python tests/mutants/run.py $(MUTANTS)

$(MUTATION)/bin/cargo-mutants: $(MUTATION)/.installed
	@echo 'mutants: cargo-mutants, two minutes'
	@cargo install --quiet --locked --root $(MUTATION) --version 27.1.0 cargo-mutants

$(MUTATION)/.installed: tests/mutants/requirements.lock
	@$(PYTHON) -m venv $(MUTATION)
	@PIP_NO_INPUT=1 $(MUTATION)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

# Random scenarios until the time is over; what goes wrong is kept in tests/fuzz/corpus.
MINUTES := 10
fuzz: setup
	$(BIN)/python tests/fuzz/endless.py --minutes $(MINUTES)

# Random scenarios and networks within budgets of 0.5 to 3 s: none may be late. With what is in ASK, another campaign:
# `make fuzz-budgets ASK="--cases 200 --most 20 --busy 4"` runs beside four busy loops.
ASK := --cases 200
fuzz-budgets: setup
	$(BIN)/python tests/fuzz/campaign.py $(ASK)

# Verbs that are killed, have no room, or may not write: nothing is lost, and nothing is left. As root.
KILLS := 100
kills: setup testbed
	$(BIN)/python tests/fuzz/kills.py --kills $(KILLS)

# Renew both lock files. uv is not needed for anything else, so it is no dependency of ours.
lock: setup
	cargo update --workspace
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	    --generate-hashes --no-emit-index-url --no-header --no-annotate --extra cluster --extra counters --extra parquet --extra report --extra testbed --extra web --extra dev \
	    --upgrade --output-file requirements.lock pyproject.toml
	sed -n 's/^\([a-z][^ ]*==[^ ;]*\).*/\1/p' requirements.lock >build/lock/locked.txt
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	    --generate-hashes --no-emit-index-url --no-header --no-annotate --extra docs --constraint build/lock/locked.txt \
	    --upgrade --output-file docs/requirements.lock pyproject.toml
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-header --no-annotate --upgrade --output-file tests/mutants/requirements.lock tests/mutants/requirements.in

clean:
	rm -rf $(VENV) build target src/forebay/_core*.so $(INPUTS)
