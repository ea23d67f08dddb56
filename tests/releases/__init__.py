# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real engine releases as trees that look like site-packages.

Tests run against what users have installed, so the releases come from the package index that pip is configured for,
once, and stay in a cache outside the repository. A release is named in ``releases.toml`` together with the digest of
its archive; anything else that the index may serve under that name is refused.

The archives are not installed and nothing in them is run: only the Python files of the import package are kept, with a
``dist-info`` folder whose RECORD is true for them.
"""

from __future__ import annotations

from ._cache import cache_root, copy_tree, tree
from ._errors import ReleaseError
from ._index import pip_options
from ._pins import Release, find, pinned

__all__ = ("Release", "ReleaseError", "cache_root", "copy_tree", "find", "pinned", "pip_options", "tree")
