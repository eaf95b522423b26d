# Bot Arena: `make` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROTOS := $(sort $(wildcard proto/botarena/v1/*.proto))
SERVICES := $(shell grep -l "^service " $(PROTOS))
STUBS := sdk/python

.DEFAULT_GOAL := help
.PHONY: help setup tournament test check proto proto-check bench bench-ratings bench-stopping bench-luck bench-sandboxes mutation chaos hostile fuzz load images bots-native clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "error: '$(PYTHON)' is not Python 3.11 or newer; install one and name it: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "error: $(PYTHON) cannot make a virtual environment; install its venv module or run: make PYTHON=..." >&2; exit 1; }

$(VENV)/.runtime: pyproject.toml sdk/python/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e sdk/python -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e sdk/python -e '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e sdk/python -e '.[dev,bench]'
	@touch $@

setup: $(VENV)/.runtime  ## install the arena into .venv

tournament: $(VENV)/.runtime  ## play a real tournament of the four house bots and show its leaderboard
	$(BIN)/arena tournament run koffer house:search house:greedy house:first house:random --deals 150

test: $(VENV)/.dev  ## run all tests, in parallel
	$(BIN)/python -m pytest -n auto

check: $(VENV)/.dev  ## ruff, mypy --strict, direction of imports, protos
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cd proto && ../$(BIN)/buf lint && ../$(BIN)/buf format --diff --exit-code && ../$(BIN)/buf breaking --against baseline.binpb

# The stubs are made by an old generator on purpose: stubs of a new one refuse older runtimes,
# and a bot author's environment is not ours to choose. mypy-protobuf needs a newer protobuf than
# that generator, hence two environments.
.tools/.done: Makefile
	rm -rf .tools && $(PYTHON) -m venv .tools/protoc && $(PYTHON) -m venv .tools/types
	.tools/protoc/bin/python -m pip install --quiet --disable-pip-version-check 'grpcio-tools==1.71.2' 'setuptools<81'
	.tools/types/bin/python -m pip install --quiet --disable-pip-version-check 'mypy-protobuf==5.1.0' 'protobuf==6.33.6'
	@touch $@

proto: .tools/.done  ## regenerate the Python stubs from proto/
	rm -f $(STUBS)/botarena/v1/*_pb2*
	.tools/protoc/bin/python -m grpc_tools.protoc -Iproto --python_out=$(STUBS) \
	  --plugin=protoc-gen-mypy=.tools/types/bin/protoc-gen-mypy --mypy_out=quiet:$(STUBS) $(PROTOS)
	.tools/protoc/bin/python -m grpc_tools.protoc -Iproto --grpc_python_out=$(STUBS) \
	  --plugin=protoc-gen-mypy_grpc=.tools/types/bin/protoc-gen-mypy_grpc --mypy_grpc_out=quiet:$(STUBS) $(SERVICES)

proto-check: proto  ## fail if the committed stubs differ from what proto/ gives
	@git diff --exit-code --stat -- $(STUBS)/botarena/v1 && test -z "$$(git status --porcelain -- $(STUBS)/botarena/v1)" || { \
	  echo "error: the committed stubs differ from proto/; run 'make proto' and commit the result" >&2; exit 1; }

bench: $(VENV)/.bench  ## measure the arena against raw gRPC and other game libraries in the same run (BENCH_JSON=path writes figures)
	$(BIN)/python -m tests.bench

bench-ratings: $(VENV)/.bench  ## rate simulated bots beside other packages, and check the goals of the ratings (BENCH_LONG=1: 20 seeds)
	$(BIN)/python -m tests.bench.ratings

bench-stopping: $(VENV)/.dev  ## matches until it is decided, beside a uniform and a fixed schedule, and how often wrongly
	$(BIN)/python -m tests.bench.stopping

bench-luck: $(VENV)/.dev  ## play small tournaments of every game and tell its luck index and what duplicate deals are worth
	$(BIN)/python -m tests.bench.luck

mutation: $(VENV)/.dev  ## plant known faults in copies of the rules and report how many the tests catch
	$(BIN)/python -m tests.mutation

chaos: $(VENV)/.dev  ## kill, stop, fill up and break a tournament 200 times and compare it with an undisturbed one
	$(BIN)/python -m tests.chaos

hostile: $(VENV)/.dev  ## play the hostile bots at every level of sandbox, and print row by row what came of it
	$(BIN)/python -m tests.hostile

fuzz: $(VENV)/.dev  ## send the gateway a million mutated frames, beside honest bots
	$(BIN)/python -m tests.fuzz

load: $(VENV)/.dev  ## 200 remote bots and 50 clients at a server that is killed under them
	$(BIN)/python -m tests.load --seconds 120

bench-sandboxes: $(VENV)/.dev  ## measure what each level of sandbox costs, in decisions per second
	$(BIN)/python -m tests.bench.sandboxes

LANGUAGES ?= python go typescript rust java cpp
images: $(VENV)/.runtime  ## make the base images for bots in containers out of Debian's packages (as root; LANGUAGES="python cpp", SUITE, MIRROR, FRESH=1)
	PYTHON=$(BIN)/python arena/images/make.sh $(LANGUAGES)

bots-native:  ## compile the tests' bot in C++ for runs without containers (needs libgrpc++-dev, protobuf-compiler-grpc, cmake)
	cmake -S tests/bots_native/cpp -B tests/bots_native/cpp/target -DCMAKE_BUILD_TYPE=Release -DPROTO=$(CURDIR)/proto
	cmake --build tests/bots_native/cpp/target --parallel

clean:  ## remove what the targets made
	rm -rf $(VENV) .tools build tests/bots_native/cpp/target .pytest_cache .mypy_cache .ruff_cache .hypothesis
