# The two commands of the README are `make demo` and `make test`; each installs what it needs.
# CI calls only these verbs.

CARGO ?= cargo
WEIR = target/release/weir

.PHONY: demo test check lint unit fuzz bench build deps clean

demo: build ## The C claims with progress, the table, and a report that stands alone.
	$(WEIR) verify carlucci-2017 --report weir-report.html; status=$$?; \
	echo "Report: $(CURDIR)/weir-report.html"; test $$status -le 1

build:
	$(CARGO) build --release --locked --package weir

test: deps lint unit fuzz ## Everything that CI checks.

# Tools that some tests use: tshark reads our captures, ffmpeg makes pictures for the codec fit and the calls, ip and tc make the kernel's
# queues, browsers and their drivers call, npm checks the pages. Without apt or root those tests skip, with a line that says so.
deps:
	@./scripts/deps

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	./scripts/licences
	./scripts/pages

unit:
	$(CARGO) test --workspace --locked

fuzz:
	./fuzz/run 6

bench:
	$(CARGO) bench --workspace --locked

clean:
	$(CARGO) clean
