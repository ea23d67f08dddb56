# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The two that matter: make demo, make test. Everything they need is put into .venv/ and build/ below this folder.

.DEFAULT_GOAL := help
.PHONY: help setup lint format sanity units units-all properties corpus corpus-full faults molecule numerics test demo demo-clean bench compare changelog clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | while IFS='	' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done

setup: ## .venv with Ansible, linters and test tools; quick when nothing changed
	@scripts/setup

demo: setup ## the main job on this machine: get a real engine, patch it, show its state before and after
	@scripts/demo

demo-clean: ## remove what the demo made
	@scripts/demo clean

test: ## everything above and below, phase by phase with times; then the sum of all tests
	@scripts/test

lint: setup ## ruff, its format, mypy, yamllint, ansible-lint, changelog, docs, licences, shell, sizes, build
	@scripts/lint

format: setup ## let ruff put Python files into shape
	@bash -c "source scripts/lib.sh && ruff check --fix-only --quiet . ; ruff format --quiet ."

sanity: setup ## ansible-test sanity
	@scripts/test sanity

units: setup ## unit tests, by ansible-test
	@scripts/units

units-all: setup ## unit tests of the code for managed hosts, on every Python 3.8+ that is found
	@scripts/units all

corpus: setup ## tests on real engine releases, fetched once into a cache outside this folder
	@scripts/test corpus

corpus-full: setup ## the edit engine on every file of the standard libraries and of two releases; hours
	@SPECDEC_CORPUS=full .venv/bin/python -m pytest -q --no-header -n 2 tests/corpus/test_stdlib.py

properties: setup ## what must hold for any file, on thousands of made-up ones; many minutes
	@HYPOTHESIS_PROFILE=long .venv/bin/python -m pytest -q --no-header -n 2 tests/unit/plugins/module_utils/test_properties.py

numerics: setup ## patched engines on real numbers, against transformers; all architectures, or ARCH="A B"
	@scripts/numerics $(if $(ARCH),$(ARCH),all)

molecule: ## the role in real containers over ssh
	@scripts/test setup molecule

bench: ## time against ping, against chains of core modules, and against ansible.posix.patch
	@scripts/setup molecule
	@scripts/bench

faults: ## the module killed at every step, and real installers
	@scripts/setup molecule
	@scripts/test faults

compare: ## what core's and ansible.posix's modules do to the same files
	@scripts/setup molecule
	@scripts/compare

changelog: setup ## bring the newest entry of CHANGELOG.md up to the modules and texts that there are
	@bash -c "source scripts/lib.sh && antsibull-changelog release --update-existing --reload-plugins --refresh-plugins"

clean: demo-clean ## remove .venv, build and caches of tools (not the cache of releases)
	rm -rf .venv* build .pytest_cache .mypy_cache .ruff_cache .hypothesis .ansible
