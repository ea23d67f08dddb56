# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of the modules that read or write an installed package.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  python:
    description:
      - Interpreter whose syntax and site-packages are meant, usually C(bin/python) of a virtual environment.
      - The default is the interpreter that runs Ansible's modules on the host.
      - It can be any Python from 3.8 on, also one that Ansible itself does not support.
    type: path
  ledger_dir:
    description:
      - Folder of the ledger, which holds what was done and the original bytes. It is never inside a package.
      - The default is C(.specdec-blackwell) in the virtual environment of O(python). Outside of one it is
        C(/var/lib/specdec) for root, and C(specdec) in the user's state folder otherwise.
    type: path
"""

    WRITES = r"""
options:
  force:
    description:
      - Write over a file that was edited by hand after this collection changed it. The diff says what goes.
    type: bool
    default: false
  follow:
    description:
      - Write through a symbolic link in the way to a file. With V(false) a link is refused.
    type: bool
    default: true
notes:
  - A file is replaced by renaming, with its owner, mode, ACL and other attributes kept. Hard links are broken,
    because package managers such as uv share one inode between several environments and their cache.
  - When anything is in the way of one edit, no file of the task is written.
"""
