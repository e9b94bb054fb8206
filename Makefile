# Arenero's commands. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

# The one tool that is not in uv.lock, since it reads the lock.
UV_VERSION := 0.13.9
UV := .tools/bin/uv
UV_STAMP := .tools/uv-$(UV_VERSION)
BIN := .venv/bin
# What the platform and its tests need from Debian, beside Python itself.
APT_PACKAGES := git iproute2 procps

# Choices of the caller: make setup PYTHON=/opt/python3.13/bin/python3, make test PYTEST_ARGS='-k lease -x', …
PYTHON ?=
PYTEST_ARGS ?=
ARGS ?=
ONLY ?=

PYTEST := $(BIN)/python -m pytest
GENERATED := proto/gen sdk/python/src/arenero/sdk/_types

# Compiled ahead: where PYTHONDONTWRITEBYTECODE is set, every start of a service would compile all of it anew.
COMPILED := .venv/lib bench guest libs proto/gen sdk services

export UV_PROJECT_ENVIRONMENT := .venv

##@ Everyday

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)

.PHONY: setup
setup: apt venv ## Install all that the platform and its tests need; quick when it is there

.PHONY: demo
demo: setup ## Start the platform, do a real job in a sandbox, show it, stop cleanly
	@bash examples/demo.sh $(ARGS)

.PHONY: run
run: setup ## Run the platform in the foreground (ARGS: options of `arenero up`)
	@$(BIN)/arenero up $(ARGS)

.PHONY: test
test: setup ## Run every test but the slow ones (PYTEST_ARGS: more options for pytest)
	@$(PYTEST) -m "not slow" $(PYTEST_ARGS)

.PHONY: check
check: gen-check proto-check lint typecheck test-unit test-contract ## All that CI asks before the longer tests

.PHONY: bench
bench: setup ## Measure, compare with the bars, write bench/out/latest.json (ONLY=name for one row)
	@$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY)) $(ARGS)

##@ Code

.PHONY: gen
gen: venv ## Generate proto/gen and the SDK's types from the .proto files
	@$(BIN)/python proto/generate.py

.PHONY: fmt
fmt: venv ## Format Python and protos, and fix what ruff can fix
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .
	@$(BIN)/buf format --write

.PHONY: lint
lint: venv ## ruff and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports

.PHONY: typecheck
typecheck: venv ## mypy --strict
	@$(BIN)/mypy

.PHONY: gen-check
gen-check: gen ## Fail when the committed generated code is not what the protos say
	@git diff --exit-code --stat -- $(GENERATED)
	@unknown="$$(git ls-files --others --exclude-standard -- $(GENERATED))"; \
		[[ -z $$unknown ]] || { echo "generated but not committed:" $$unknown >&2; exit 1; }

.PHONY: proto-check
proto-check: venv ## buf lint, format and compatibility (BASE=commit to compare with another one, BASE=none to skip)
	@$(BIN)/buf lint
	@$(BIN)/buf format --diff --exit-code
	@proto/breaking.sh $(BASE)

##@ Tests by kind

.PHONY: test-unit
test-unit: venv ## Unit and style tests: no network, no daemon, no waiting
	@$(PYTEST) tests/unit tests/style $(PYTEST_ARGS)

.PHONY: test-contract
test-contract: setup ## The suites that every driver and every log must pass, fakes and real ones alike
	@$(PYTEST) tests/contract -m "not slow" $(PYTEST_ARGS)

.PHONY: test-integration
test-integration: setup ## Services over a real nats-server, with the fake driver
	@$(PYTEST) tests/integration -m "not slow" $(PYTEST_ARGS)

.PHONY: test-e2e
test-e2e: setup ## The whole platform, through the SDK and the command only
	@$(PYTEST) tests/e2e -m "not slow" $(PYTEST_ARGS)

.PHONY: test-security
test-security: setup ## Escapes, policy bypass, leaks of secrets
	@$(PYTEST) tests/security -m "not slow" $(PYTEST_ARGS)

.PHONY: test-slow
test-slow: setup ## The slow ones: crashes, scale, long output
	@$(PYTEST) -m slow $(PYTEST_ARGS)

##@ Machinery

.PHONY: apt
apt: ## Install what is missing of the Debian packages needed
	@deploy/setup/apt.sh $(APT_PACKAGES)

.PHONY: venv
venv: $(UV_STAMP) ## Make .venv hold exactly what uv.lock says
	@$(UV) sync --quiet --locked --all-packages --all-extras --python .tools/bin/python
	@$(BIN)/python -m compileall -q -j 0 $(COMPILED)

$(UV_STAMP):
	@deploy/setup/bootstrap.sh "$(PYTHON)" "$(UV_VERSION)"
	@touch $@

.PHONY: clean
clean: ## Remove all that these commands made: environments, caches, results
	@rm -rf .venv .tools .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache bench/out tests/out
	@find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
