# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Add up the JUnit files of a folder: one line for each, and a closing line with the totals."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def counts(path: Path) -> tuple[int, int, int]:
    """(passed, failed, skipped) of one file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            failed += 1
        elif "skipped" in outcomes:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(folder: Path) -> None:
    totals = [0, 0, 0]
    for path in sorted(folder.glob("*.xml")):
        found = counts(path)
        totals = [total + more for total, more in zip(totals, found, strict=True)]
        print(f"{path.stem}: {found[0]} passed, {found[1]} failed, {found[2]} skipped")
    print()
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
