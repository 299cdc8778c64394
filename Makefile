# The two commands of the README are `make demo` and `make test`; each installs what it needs.
# CI calls only these verbs.

CARGO ?= cargo
WEIR = target/release/weir

.PHONY: demo dev package simulator test lint unit python adapters sweeps attack fuzz bench build deps clean

demo: simulator ## The claims of one paper with progress, a table, and a report in one HTML file.
	$(WEIR) verify carlucci-2017 --report weir-report.html; status=$$?; \
	echo "Report: $(CURDIR)/weir-report.html"; \
	$(WEIR) measure --help >/dev/null 2>&1 || \
	echo "This build simulates. 'make build' adds weir emulate, measure, upload, import, fit and serve."; \
	test $$status -le 1

# Only what simulations need, unless the whole program is there already.
simulator:
	@features=--no-default-features; ! $(WEIR) measure --help >/dev/null 2>&1 || features=; \
	$(CARGO) build --release --locked --package weir $$features

build: ## The whole program, with browsers and servers.
	$(CARGO) build --release --locked --package weir

dev: ## The simulator after a change of the code, in seconds: target/work/weir.
	$(CARGO) build --profile work --locked --package weir --no-default-features

package: ## A Debian package, an image, an installation and the crates, each one tried.
	./scripts/package

test: deps lint unit python adapters sweeps attack fuzz ## Everything that CI checks.

# Programs that some tests use: tshark reads captures, ffmpeg makes media, ip and tc make the
# kernel's queues, browsers and their drivers call, npm checks the pages. Without apt or root the
# tests that need them are skipped, with a line that says so.
deps:
	@./scripts/deps

# --lib and --examples: with the features that clippy has checked the dependencies with.
lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy --package weir --no-default-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --lib --examples --no-deps --locked --quiet
	./scripts/columns
	./scripts/book
	./scripts/deny
	./scripts/pages

unit:
	./scripts/tests

python: ## The Python package: types, tests, notebooks.
	./scripts/python

# All three with the program that the tests have built; building it alone would compile it with other
# features.
adapters: target/debug/weir ## Estimators of other projects, judged: C, Python, Rust, Go.
	./scripts/adapters

sweeps: target/debug/weir ## Sweeps on a Ray cluster and into object storage.
	./scripts/sweeps target/debug/weir

attack: target/debug/weir
	./scripts/attack target/debug/weir

target/debug/weir:
	$(CARGO) build --locked --package weir

fuzz:
	./fuzz/run 4

bench:
	$(CARGO) bench --workspace --locked

clean:
	$(CARGO) clean
