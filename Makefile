# `make run` measures this machine; `make test` tests the program.

export PATH := $(PATH):$(HOME)/.cargo/bin
BINARY = target/proofmark
PREFIX = /usr/local

.PHONY: run build check test test-engines lint bench references install uninstall dist test-dist help setup

## run: build, measure the whole machine, print the path of the report (ARGS="--quick" for less)
run: build
	@$(BINARY) run $(ARGS) || { [ $$? -eq 3 ] && echo "Some results are suspect or invalid; the report has the causes."; }

## build: the static binary
build: setup
	PROOFMARK_COMMIT=$$(git describe --always --abbrev=12 --exclude='*' --dirty 2>/dev/null) cargo build --release --locked --package proofmark
	@ln -sf "$$(rustc -vV | sed -n 's/^host: //p')/release/proofmark" $(BINARY)
	@ldd $(BINARY) 2>&1 | grep -qE 'statically linked|not a dynamic executable' || { echo "$(BINARY) is not static"; exit 1; }

## check: before a commit: formatting, clippy and the unit tests, with their durations
check: setup
	@scripts/check

## test: all tests; `scripts/test PART` runs a part
test: setup
	@scripts/test

## test-engines: the tests of fleets against ssh and Slurm, which it installs, as root
test-engines: setup
	@scripts/test-engines

## lint: formatting, clippy, documentation, with warnings as errors; long sentences; dependencies, where cargo-deny is installed
lint: setup
	cargo fmt --all --check
	@scripts/sentences
	@scripts/deny
	@scripts/clippy
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

## bench: the workloads that reference tools also run, in pairs with each installed tool (ARGS="memory disk" for a part)
bench: build
	@$(BINARY) run $(or $(ARGS),cpu.dgemm cpu.linpack memory disk network) --reference all --out target/bench-$$(date +%s) || [ $$? -eq 3 ]

## references: install the reference tools for `proofmark run --reference all`
references:
	@scripts/references

## install: the binary, its manual pages and completions, below PREFIX (and DESTDIR); as root for /usr/local
install:
	@scripts/install "$(DESTDIR)" "$(PREFIX)"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/proofmark"

## uninstall: what install put there
uninstall:
	@scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

## dist: packages of the static binary in dist/: tarball, .deb, .rpm, Python wheel, container image
dist: build
	@scripts/dist

## test-dist: install, run and remove each package in clean Debian roots, as root (ARGS="trixie" for one release)
test-dist:
	@scripts/test-dist $(ARGS)

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /\1|/p' Makefile | awk -F '|' '{ printf "make %-12s %s\n", $$1, $$2 }'

setup:
	@scripts/setup
