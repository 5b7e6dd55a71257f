# Everything sets itself up on a fresh machine with Rust: cargo fetches what it needs, and tools go to .tools.
CARGO ?= cargo
TOOLS := $(CURDIR)/.tools
DENY := $(TOOLS)/bin/cargo-deny

.PHONY: help demo test lint deny bench clean
help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: ## All of it on made-up voters, into ./apportion-demo
	$(CARGO) run --release --locked --quiet -p apportion-cli -- demo

test: ## Tests, the snippets of the documentation, and the example
	$(CARGO) test --workspace --locked
	$(CARGO) run --locked --quiet -p apportion --example voter_file

lint: ## Format, clippy, documentation, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	$(MAKE) deny

deny: $(DENY) ## Licences, bans and sources of all that we depend on
	$(CARGO) fetch --locked --quiet # of all platforms: cargo-deny looks at them, too
	$(DENY) --offline check bans licenses sources

$(DENY):
	$(CARGO) install --locked --root $(TOOLS) cargo-deny

bench: ## Speed in memory, as ratios to an argmax pass in the same run
	$(CARGO) run --release --locked -p apportion-bench

clean: ## Removes what was built
	$(CARGO) clean
	rm -rf $(TOOLS)
