# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one exception that callers of this package have to know."""

from __future__ import annotations


class ReleaseError(Exception):
    """A release could not be had. The message says which one, what failed, and what to do."""


__all__ = ("ReleaseError",)
