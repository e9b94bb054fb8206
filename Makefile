# Arenero's commands. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The one tool that is not in uv.lock, since it reads the lock.
UV_VERSION := 0.13.9
UV := .tools/bin/uv
UV_STAMP := .tools/uv-$(UV_VERSION)
BIN := .venv/bin
# An explicit choice wins: make setup PYTHON=/opt/python3.13/bin/python3
PYTHON ?=
PYTEST_ARGS ?=
PYTEST := $(BIN)/python -m pytest

export UV_PROJECT_ENVIRONMENT := .venv

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: venv
venv: $(UV_STAMP) ## Make .venv hold exactly what uv.lock says
	@$(UV) sync --quiet --frozen --all-packages --all-extras --python .tools/bin/python

$(UV_STAMP):
	@deploy/setup/bootstrap.sh "$(PYTHON)" "$(UV_VERSION)"
	@touch $@

.PHONY: gen
gen: venv ## Generate proto/gen and the SDK's types from the .proto files
	@$(BIN)/python proto/generate.py
