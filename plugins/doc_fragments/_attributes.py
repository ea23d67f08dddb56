# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The attributes that the modules of this collection share.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
  diff_mode:
    description: Returns details on what has changed, or would change in C(check_mode), when in diff mode.
  idempotent:
    description:
      - When run twice in a row outside check mode, with the same arguments, the second invocation indicates no
        change.
      - This assumes that the system controlled or queried by the module has not changed in a relevant way.
  platform:
    description: Target operating systems that the module can run on.
    platforms: posix
    support: full
"""

    CHANGES = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: RV(ignore:changed) and the diff equal those of the run that follows.
  diff_mode:
    support: full
    details: One entry a file, decoded by the file's own encoding cookie.
  idempotent:
    support: full
"""

    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: This module does not modify anything.
  diff_mode:
    support: N/A
    details: This module does not modify anything.
  idempotent:
    support: full
    details: This module does not modify anything.
"""

    ACTION_GROUP = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/specdec.blackwell.specdec) in C(module_defaults) to set defaults for this module.
    support: full
    membership:
      - specdec.blackwell.specdec
"""
