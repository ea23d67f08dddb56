# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inputs of the comparison: one small change, wanted in files that make it hard.

Every tool is told what a person would tell it who wrote the patch against ``PLAIN``: put ``CALL`` below ``ANCHOR`` in
``First.run``. A hazard is what the file on the host looks like instead.
"""

from __future__ import annotations

from dataclasses import dataclass

ANCHOR = "x = load(path)"
CALL = "x = check(x)"

_BODY = """\
    def run(self, path):
        log.debug("start")
        self.count += 1
        self.last = path
        {line}
        self.done = True
        log.debug("end")
        return x
"""
PLAIN = "class First:\n" + _BODY.format(line=ANCHOR) + "\n\nclass Second:\n" + _BODY.format(line="x = fetch(path)")
_LINE = f"        {ANCHOR}\n"
_LINES = f"{_LINE}        {CALL}\n"
PATCHED = PLAIN.replace(_LINE, _LINES)


@dataclass(frozen=True)
class Hazard:
    """A file, and the bytes that are right after the change; None when the change must be refused.

    ``reports`` are the public bug reports that describe it.
    """

    name: str
    what: str
    before: bytes
    after: bytes | None
    reports: tuple[str, ...] = ()
    layout: str = "file"


def _text(before: str, after: str | None = None) -> tuple[bytes, bytes]:
    wanted = (
        after if after is not None else before.replace(f"        {ANCHOR}\n", f"        {ANCHOR}\n        {CALL}\n")
    )
    return before.encode(), wanted.encode()


_TWIN = PLAIN.replace("x = fetch(path)\n", f"{ANCHOR}\n        {CALL}\n")
_TWIN_AFTER = PATCHED.replace("x = fetch(path)\n", f"{ANCHOR}\n        {CALL}\n")
_BOTH = PLAIN.replace("x = fetch(path)", ANCHOR)
_BOTH_AFTER = PATCHED.replace("x = fetch(path)", ANCHOR)
_STRING = f'HELP = """\n        {ANCHOR}\n"""\n\n\n' + PLAIN
_STRING_AFTER = f'HELP = """\n        {ANCHOR}\n"""\n\n\n' + PATCHED
_OTHER_LAYOUT = PLAIN.replace(ANCHOR, "x = load(\n            path,\n        )")
_HAND = PLAIN.replace(f"        {ANCHOR}\n", f"        {ANCHOR}\n        x = check( x )  # by hand\n")
_COMMENTED = PLAIN.replace(
    f"        {ANCHOR}\n", f"        # The path\n        # is absolute.\n        {ANCHOR}  # slow\n"
)
_LATIN = "# -*- coding: latin-1 -*-\nNAME = 'Zoë'\n\n\n"
_MIXED = PLAIN.replace("\n", "\r\n", 6)

_LATIN_1 = [(_LATIN + part).encode("latin-1") for part in (PLAIN, PATCHED)]
_SEPARATED = [("\f\nSEP = '\u2028'\n\n\n" + part).encode() for part in (PLAIN, PATCHED)]

HAZARDS = (
    Hazard("plain", "the file that the patch was written for", *_text(PLAIN)),
    Hazard("twin class", "the wanted result stands in another class of the file", *_text(_TWIN, _TWIN_AFTER)),
    Hazard("anchor twice", "another class has the anchor too, and is to stay", *_text(_BOTH, _BOTH_AFTER)),
    Hazard("in a string", "the anchor also stands in a string literal", *_text(_STRING, _STRING_AFTER)),
    Hazard(
        "other layout",
        "upstream wrote the anchor over three lines",
        *_text(_OTHER_LAYOUT, _OTHER_LAYOUT.replace("        )\n", f"        )\n        {CALL}\n")),
    ),
    Hazard(
        "comments grew",
        "upstream added comments around the anchor",
        *_text(_COMMENTED, _COMMENTED.replace("# slow\n", f"# slow\n        {CALL}\n")),
    ),
    Hazard("by hand", "somebody made the change, spelled another way", *_text(_HAND, _HAND)),
    Hazard(
        "anchor gone",
        "upstream removed the anchor",
        PLAIN.replace(ANCHOR, "x = None").encode(),
        None,
        ("4531", "29776", "34690"),
    ),
    Hazard(
        "CRLF",
        "the lines end in CR LF",
        *(part.replace(b"\n", b"\r\n") for part in _text(PLAIN)),
        reports=("84999", "85283"),
    ),
    Hazard(
        "mixed line ends",
        "some lines end in CR LF",
        _MIXED.encode(),
        _MIXED.replace(_LINE.replace("\n", "\r\n"), _LINES.replace("\n", "\r\n")).encode(),
        ("85785",),
    ),
    Hazard("latin-1", "a coding line says latin-1", *_LATIN_1, reports=("27779", "24521")),
    Hazard(
        "BOM", "a byte order mark starts the file", *(part.encode("utf-8-sig") for part in (PLAIN, PATCHED)), ("2189",)
    ),
    Hazard("no final line end", "the file ends without one", PLAIN.rstrip().encode(), PATCHED.rstrip().encode()),
    Hazard("form feed", "a form feed and U+2028 stand above the anchor", *_SEPARATED),
    Hazard("hard link", "another environment shares the inode", *_text(PLAIN), ("45181", "15700"), "hard link"),
    Hazard("symlink", "the file is a link to another place", *_text(PLAIN), ("10059", "6470"), "symlink"),
)
