# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text that Prometheus reads from a server, as samples.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|(?=\}))')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "\\": "\\", '"': '"'}


class Sample(t.NamedTuple):
    name: str
    labels: t.Dict[str, str]
    value: float


def _unescape(match: t.Match[str]) -> str:
    return _ESCAPED.get(match.group(1), match.group(0))


def _sample(line: str, number: int) -> Sample:
    def wrong(what: str) -> BadInput:
        return BadInput(f"line {number} of the metrics has no {what}: {line[:120]!r}")

    name = _NAME.match(line)
    if name is None:
        raise wrong("name")
    at = name.end()
    labels: dict[str, str] = {}
    if line[at : at + 1] == "{":
        at += 1
        while not line[at:].lstrip().startswith("}"):
            label = _LABEL.match(line, at)
            if label is None:
                raise wrong("label that can be read")
            labels[label.group(1)] = _ESCAPE.sub(_unescape, label.group(2))
            at = label.end()
        at = line.index("}", at) + 1
    # A time stamp, and in OpenMetrics an exemplar, may follow.
    rest = line[at:].split()
    try:
        return Sample(name.group(0), labels, float(rest[0]))
    except (IndexError, ValueError):
        raise wrong("number") from None


def parse(text: str) -> list[Sample]:
    """All samples; a line that is none raises BadInput. Times at which counters began are left out."""
    lines = enumerate((line.strip() for line in text.split("\n")), 1)
    samples = [_sample(line, number) for number, line in lines if line and not line.startswith("#")]
    return [sample for sample in samples if not sample.name.endswith("_created")]


class Metrics:
    """Samples by their name; a counter is found with ``_total`` and without."""

    def __init__(self, samples: t.Iterable[Sample]) -> None:
        self._samples: dict[str, list[Sample]] = {}
        for sample in samples:
            self._samples.setdefault(sample.name, []).append(sample)

    def of(self, name: str) -> list[Sample]:
        return self._samples.get(name + "_total") or self._samples.get(name, [])

    def total(self, name: str) -> float | None:
        """The sum over all engines, or None where no sample has this name."""
        found = self.of(name)
        return sum(sample.value for sample in found) if found else None

    def by(self, name: str, label: str) -> dict[str, float]:
        """Sums over all engines for each value of ``label``."""
        sums: dict[str, float] = {}
        for sample in self.of(name):
            if label in sample.labels:
                sums[sample.labels[label]] = sums.get(sample.labels[label], 0.0) + sample.value
        return sums

    def has(self, prefix: str) -> bool:
        return any(name.startswith(prefix) for name in self._samples)


__all__ = ("Metrics", "Sample", "parse")
