# The commands of everyday work. `make` alone lists them.
#
# CARGO_TARGET_DIR is respected and never set here.

DATA ?= ../shared/data

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build, import the nine bundled sources, harvest a tenth, and ask some questions
	@scripts/setup build
	@cargo build --quiet --bins --example oai-server
	@scripts/demo

test: ## format, lints, licences and the test suite
	@scripts/setup test
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	cargo deny --log-level error check bans licenses sources
	cargo test

conformance: ## real collections in DATA=folder, compared with other programs
	@scripts/setup test
	PINAKES_DATA=$(abspath $(DATA)) cargo test --test conformance -- --nocapture

bench: ## measure on the collections in DATA=folder
	@scripts/setup build
	scripts/bench $(abspath $(DATA))

fmt: ## format the code
	cargo fmt

clean-demo: ## remove the demo catalogue
	rm -rf demo

.PHONY: help demo test conformance bench fmt clean-demo
