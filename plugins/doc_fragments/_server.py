# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of the modules that measure a served draft.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  url:
    description: Where the server answers, without C(/v1).
    type: str
    default: http://127.0.0.1:8000
  engine:
    description: Which engine it is. With V(auto) the names of its metrics tell.
    type: str
    choices: [auto, vllm, sglang]
    default: auto
  api_key_file:
    description: File on the host with the key that the server wants, on one line.
    type: path
"""
