# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The parameters of a function as a list, and back."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, Sequence

POSITIONAL, NORMAL, STAR, KEYWORD_ONLY, STARS = "positional", "normal", "*", "keyword_only", "**"


class Parameter(NamedTuple):
    """One parameter with its kind and default."""

    kind: str
    node: Any
    default: Any = None


def parameters(node: Any) -> list[Parameter]:
    """The parameters of ``ast.arguments`` in source order."""
    positional = list(node.posonlyargs) + list(node.args)
    defaults: list[Any] = [None] * (len(positional) - len(node.defaults)) + list(node.defaults)
    split = len(node.posonlyargs)
    result = [
        Parameter(POSITIONAL if index < split else NORMAL, item, default)
        for index, (item, default) in enumerate(zip(positional, defaults))
    ]
    if node.vararg is not None:
        result.append(Parameter(STAR, node.vararg))
    result.extend(Parameter(KEYWORD_ONLY, item, default) for item, default in zip(node.kwonlyargs, node.kw_defaults))
    if node.kwarg is not None:
        result.append(Parameter(STARS, node.kwarg))
    return result


def arguments(items: Sequence[Parameter]) -> ast.arguments:
    """``ast.arguments`` of parameters in source order."""
    by_kind: dict[str, list[Parameter]] = {kind: [] for kind in (POSITIONAL, NORMAL, STAR, KEYWORD_ONLY, STARS)}
    for item in items:
        by_kind[item.kind].append(item)
    positional = by_kind[POSITIONAL] + by_kind[NORMAL]
    star, stars = by_kind[STAR], by_kind[STARS]
    return ast.arguments(
        posonlyargs=[item.node for item in by_kind[POSITIONAL]],
        args=[item.node for item in by_kind[NORMAL]],
        vararg=star[0].node if star else None,
        kwonlyargs=[item.node for item in by_kind[KEYWORD_ONLY]],
        kw_defaults=[item.default for item in by_kind[KEYWORD_ONLY]],
        kwarg=stars[0].node if stars else None,
        defaults=[item.default for item in positional if item.default is not None],
    )


__all__ = ("POSITIONAL", "NORMAL", "STAR", "KEYWORD_ONLY", "STARS", "Parameter", "parameters", "arguments")
