#!/usr/bin/env bash
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Shared by the scripts beside this file, which source it.

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
# ANSIBLE_CORE=2.20 (2.19, 2.21): with that ansible-core, in a venv of its own.
VENV=$ROOT/.venv${ANSIBLE_CORE:+-$ANSIBLE_CORE}
export PATH=$VENV/bin:$PATH
export ANSIBLE_CONFIG=$ROOT/ansible.cfg
# A collection of the same name that a user installed must never be the one under test.
export ANSIBLE_COLLECTIONS_PATH=$ROOT/.collections
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Every CPython 3.x on PATH or of pyenv that starts: "3.13 /path", oldest first, one a minor version.
pythons() {
  local candidate version
  {
    for candidate in python3 python3.{8..14}; do command -v "$candidate" || true; done
    ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 2>/dev/null || true
  } | while read -r candidate; do
    case $candidate in "$VENV"/* | "$ROOT"/build/*) continue ;; esac
    version=$(cd / && "$candidate" -I -c 'import sys, venv, ensurepip, ssl, zlib
if sys.implementation.name == "cpython" and sys.prefix == sys.base_prefix:
    print("%d.%d %s" % (sys.version_info[0], sys.version_info[1], sys.executable))' 2>/dev/null) || continue
    [ -z "$version" ] || say "$version"
  done | sort -t. -k1,1n -k2,2n -s | awk '!seen[$1]++'
}

# Digest of files, for stamps.
digest() { cat "$@" | sha256sum | cut -d' ' -f1; }
