# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions and version specifiers as PEP 440 has them, for the ``version`` and ``drop_when`` keys.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import re

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput

_VERSION = re.compile(
    r"""
    v?
    (?:(?P<epoch>[0-9]+)!)?
    (?P<release>[0-9]+(?:\.[0-9]+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>[0-9]+)?)?
    (?P<post>-(?P<post_bare>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>[0-9]+)?)?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_number>[0-9]+)?)?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PRE = {"alpha": "a", "a": "a", "beta": "b", "b": "b", "c": "rc", "rc": "rc", "pre": "rc", "preview": "rc"}
_CLAUSE = re.compile(r"(===|~=|==|!=|<=|>=|<|>)\s*(\S+)", re.ASCII)

# A final release sorts after its pre-releases and before its post-releases; a bare dev release before everything.
_BEFORE = ("", -1)
_AFTER = ("z", 0)


class Version:
    """One version. ``Version("0.16.0rc1.post2.dev3+cu129")``; raises BadInput on what PEP 440 does not allow."""

    def __init__(self, text: str) -> None:
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise BadInput(f"{text!r} is not a version as PEP 440 has them")
        self.text = text.strip()
        self.epoch = int(match.group("epoch") or 0)
        self.release = tuple(int(part) for part in match.group("release").split("."))
        self.pre: tuple[str, int] | None = None
        if match.group("pre"):
            self.pre = (_PRE[match.group("pre").lower()], int(match.group("pre_number") or 0))
        self.post: int | None = None
        if match.group("post"):
            self.post = int(match.group("post_bare") or match.group("post_number") or 0)
        self.dev: int | None = None
        if match.group("dev"):
            self.dev = int(match.group("dev_number") or 0)
        self.local: tuple[str, ...] = ()
        if match.group("local"):
            self.local = tuple(re.split(r"[-_.]", match.group("local").lower()))

    @property
    def suffixed(self) -> bool:
        """Whether there is anything besides epoch and release."""
        return bool(self.local) or (self.pre, self.post, self.dev) != (None, None, None)

    def public_key(self, dev: tuple[int, int] | None = None) -> tuple[object, ...]:
        """Sorts by everything but the local part; ``dev`` in place of the version's own."""
        release = list(self.release)
        while len(release) > 1 and release[-1] == 0:
            release.pop()
        if self.pre is not None:
            pre = self.pre
        elif self.post is None and (self.dev is not None or dev is not None):
            pre = _BEFORE
        else:
            pre = _AFTER
        post = -1 if self.post is None else self.post
        if dev is None:
            dev = (1, 0) if self.dev is None else (0, self.dev)
        return (self.epoch, tuple(release), pre, post, dev)

    def key(self) -> tuple[object, ...]:
        """Sorts by everything. Local parts: numbers above words, more parts above fewer."""
        local = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in self.local)
        return (self.public_key(), local)


def _same_base(left: Version, right: Version) -> bool:
    """Whether both are of one release, whatever pre, post, dev and local parts they have."""
    size = max(len(left.release), len(right.release))
    return left.epoch == right.epoch and _padded(left.release, size) == _padded(right.release, size)


def _padded(release: tuple[int, ...], size: int) -> tuple[int, ...]:
    return release + (0,) * (size - len(release))


class _Clause:
    """One comparison of a specifier."""

    def __init__(self, operator: str, text: str, whole: str) -> None:
        self.operator = operator
        self.text = text
        self.prefix = False
        if operator == "===":
            return
        if text.endswith(".*"):
            if operator not in ("==", "!="):
                raise BadInput(f"{whole!r}: '.*' goes with == and != only")
            self.prefix = True
            text = text[:-2]
        try:
            self.version = Version(text)
        except BadInput:
            raise BadInput(
                f"{whole!r}: {text!r} is not a version as PEP 440 has them (an example: '>=0.16,<0.18')"
            ) from None
        if self.prefix and self.version.suffixed:
            raise BadInput(f"{whole!r}: '.*' can only follow the numbers of a release")
        if self.version.local and operator not in ("==", "!="):
            raise BadInput(f"{whole!r}: a local part ('+...') goes with == and != only")
        if operator == "~=" and len(self.version.release) < 2:
            raise BadInput(f"{whole!r}: '~=' needs at least two numbers, as in '~=0.16.0'")

    def holds(self, version: Version) -> bool:
        operator = self.operator
        if operator == "===":
            return version.text.lower() == self.text.lower()
        if operator in ("==", "!="):
            return self._equal(version) == (operator == "==")
        wanted = self.version
        if operator == "~=":
            return self._not_below(version) and self._starts_with(version, wanted.release[:-1])
        if operator == ">=":
            return self._not_below(version)
        if operator == "<=":
            return _ordered(version.public_key(), wanted.public_key())
        if operator == "<":
            # V's own pre-releases do not count as below V, unless V is one.
            first = wanted.public_key() if wanted.pre or wanted.dev is not None else wanted.public_key(dev=(0, 0))
            return not _ordered(first, version.public_key())
        above = version.public_key() != wanted.public_key() and self._not_below(version)
        own_post = wanted.post is None and wanted.dev is None and version.post is not None
        return above and not (own_post and _same_base(version, wanted) and version.pre == wanted.pre)

    def _not_below(self, version: Version) -> bool:
        return _ordered(self.version.public_key(), version.public_key())

    def _equal(self, version: Version) -> bool:
        wanted = self.version
        if self.prefix:
            return self._starts_with(version, wanted.release)
        if wanted.local:
            return version.key() == wanted.key()
        return version.public_key() == wanted.public_key()

    def _starts_with(self, version: Version, release: tuple[int, ...]) -> bool:
        return version.epoch == self.version.epoch and _padded(version.release, len(release))[: len(release)] == release


def _ordered(low: tuple[object, ...], high: tuple[object, ...]) -> bool:
    return low <= high


class SpecifierSet:
    """A comma-separated set of comparisons; a version must meet them all. Raises BadInput on a malformed one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._clauses: list[_Clause] = []
        for part in text.split(","):
            part = part.strip()
            if not part:
                continue
            match = _CLAUSE.fullmatch(part)
            if match is None:
                hint = f" (write '=={part}' for exactly that one)" if _VERSION.fullmatch(part) else ""
                raise BadInput(f"{part!r} is not a version specifier as PEP 440 has them{hint}")
            self._clauses.append(_Clause(match.group(1), match.group(2), text))
        if not self._clauses:
            raise BadInput(f"the version specifier {text!r} is empty")

    def contains(self, version: str) -> bool:
        """Whether an *installed* version meets the set: pre-releases count, as they are there already.

        A version that PEP 440 does not allow meets ``===`` only.
        """
        try:
            parsed = Version(version)
        except BadInput:
            return all(
                clause.operator == "===" and clause.text.lower() == version.strip().lower() for clause in self._clauses
            )
        return all(clause.holds(parsed) for clause in self._clauses)


__all__ = ("SpecifierSet", "Version")
