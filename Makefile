# Thin: every target calls `python -m cli` or a test program in the project's own virtualenv.
# Exported, so that recipes quote it: its value never becomes part of a shell line.
export ENV ?= dev
export FIND ?=
PYTHON := .venv/bin/python
BOOT := python3 lab/bootstrap.py

.PHONY: help up down test test-unit test-soak check preview smoke status doctor shell validate catalog schema dashboards lock venv
export PROMETHEUS ?= http://127.0.0.1:9090
export OUTPUT ?= dashboards.html

help: ; @grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14
venv: ; @$(BOOT)
up: venv ## virtualenv, toolchain, lab, stack, everything answering
	@$(PYTHON) -m cli up --env "$$ENV"
down: venv ## stack destroyed, lab stopped, nothing left
	@$(PYTHON) -m cli down --env "$$ENV"
preview: venv ## preview with the policy pack; DIFF=1 shows every property
	@$(PYTHON) -m cli preview --env "$$ENV" $(if $(DIFF),--diff)
smoke: venv ## sample jobs with pass criteria
	@$(PYTHON) -m cli smoke --env "$$ENV"
status: venv ## names, failures first
	@$(PYTHON) -m cli status --env "$$ENV"
doctor: venv ## findings with id, cause and the command that mends them
	@$(PYTHON) -m cli doctor
shell: venv ## the one line after which plain pulumi works
	@$(PYTHON) -m cli shell --env "$$ENV"
validate: venv ## settings checked offline
	@$(PYTHON) -m cli validate --env "$$ENV"
catalog: venv ## hardware, versions, thresholds, prices; FIND="words" searches
	@$(PYTHON) -m cli catalog $$FIND
schema: venv ## JSON Schema of the settings, written to stacks/config/schema.json
	@$(PYTHON) -m cli schema
dashboards: venv ## every dashboard with real data as one HTML page; PROMETHEUS=<address> OUTPUT=<file>
	@$(PYTHON) -m cli dashboards --prometheus "$$PROMETHEUS" --output "$$OUTPUT"
lock: ## constraints.txt rewritten from requirements
	@$(BOOT) --lock
check: venv ## format, lint, types, import table
	@$(PYTHON) -m ruff format --check . && $(PYTHON) -m ruff check . && $(PYTHON) -m mypy . && .venv/bin/lint-imports
test: venv ## all tests, starting what they need
	@$(PYTHON) -m lab prepare
	@$(PYTHON) -m pytest -m "not soak"
test-unit: venv ## tests without engine, cluster or network
	@$(PYTHON) -m pytest -m "not soak and not engine and not kube and not hosts" -n 2
test-soak: venv ## kill matrices and long runs, seed printed
	@$(PYTHON) -m lab prepare
	@$(PYTHON) -m pytest -m soak
