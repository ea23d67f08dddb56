# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``parameter``: of the function in scope, and its return annotation."""

from __future__ import annotations

import ast
import keyword

from ansible_collections.specdec.blackwell.plugins.module_utils import _expressions as expressions
from ansible_collections.specdec.blackwell.plugins.module_utils import _signature as signature
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._expressions import Part
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._parameters import Named
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same

MODIFIERS: tuple[str, ...] = ()
ABSENT = True

_WHERE = {
    "default": expressions.DEFAULT,
    "annotation": expressions.ANNOTATION,
    "returns": expressions.RETURNS,
}


class Returns(Operation):
    """Write the return annotation, or take it away."""

    def __init__(self, part: Part, *, absent: bool) -> None:
        self.part = part
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return drifted(f"{scope.describe()} is no function, so it has no return annotation")
        wanted = self.part
        if self.absent:
            if wanted.node is not None and node.returns is not None and not same(node.returns, wanted.node):
                shown = scope.source.segment(node.returns).decode("utf-8")
                return drifted(f"{scope.name} returns {shown}, not the annotation to take away", line=node.lineno)
            wanted = Part(None, None)
        if same(node.returns, wanted.node):
            return present(node.lineno)
        text = wanted.text and expressions.spelled(scope.source, scope.source.start(node), wanted.text)
        return pristine(signature.returns(scope.source, node, text), node.lineno)


def parse(fields: Fields, *, absent: bool) -> Operation:
    inner = Fields(fields.values["parameter"], fields.what)
    inner.only(("name", "default", "annotation", "kind", "after", "returns"))
    if "returns" in inner.values:
        if len(inner.values) > 1:
            raise BadInput(f"{fields.what}: `returns` stands alone; a parameter takes an edit of its own")
        returns = _part(inner, "returns")
        if returns is None:
            raise AssertionError("returns is not None")
        return Returns(returns, absent=absent)
    written = inner.text("name").strip()
    name = written.lstrip("*")
    stars = written[: len(written) - len(name)]
    if not name.isidentifier() or keyword.iskeyword(name) or len(stars) > 2:
        raise BadInput(
            f"{fields.what}: `name` must be a parameter's name, with * or ** where it collects, not {written!r}"
        )
    if stars:
        for key in ("default", "kind", "after"):
            if key in inner.values:
                raise BadInput(f"{fields.what}: {written} takes no `{key}`")
    kind = inner.choice("kind", ("normal", "keyword_only"), "normal") if "kind" in inner else ""
    after = inner.text("after").strip().lstrip("*") if "after" in inner else ""
    return Named(name, stars or kind, after, _part(inner, "annotation"), _part(inner, "default"), absent=absent)


def _part(inner: Fields, key: str) -> Part | None:
    """None when the key is not given; a part without text when it is null."""
    if key not in inner.values:
        return None
    if inner.values[key] is None:
        return Part(None, None)
    snippet = inner.expression(key)
    node: ast.expr = snippet.expression
    return Part(expressions.fitted(snippet, _WHERE[key], what=f"{inner.what}, {key}"), node)
