# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Whether an engine takes EAGLE-3 with pipeline parallelism, and where it says so."""

from __future__ import annotations

import ast
import os
import re
from typing import Any, Dict, Iterator, List, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import FUNCTIONS
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse

REFUSED, BY_MODEL, UNSUPPORTED, UNKNOWN = "refused", "by_model", "unsupported", "unknown"
_FOLDERS = {
    "vllm": ("vllm/config", "vllm/v1/worker"),
    "sglang": ("sglang/srt/server_args.py", "sglang/srt/arg_groups"),
}
_TOPIC = re.compile(r"pipeline\s+parallel", re.IGNORECASE)
_SPECULATION = {
    "vllm": re.compile(r"eagle|speculative_config\.method|\{method\}|speculative decoding", re.IGNORECASE),
    "sglang": re.compile(r"speculative decoding", re.IGNORECASE),
}
_OVER_STAGES = "supports_aux_hidden_states_over_pp"
_ABSENT = (
    "nothing refuses it, but the states of the target's earlier stages never reach the draft, which then fails on "
    "their width"
)


def read(root: str, engine: str) -> Dict[str, Any]:
    """``state``, ``reason`` and ``source`` (file:line) of the decisive check."""
    relays = False
    found: List[Tuple[str, str, str]] = []
    for path, source, tree in _parsed(root, engine):
        relays = relays or _OVER_STAGES in source
        for node, around in _checks(tree, []):
            text = _message(node)
            if _TOPIC.search(text) and _SPECULATION[engine].search(text) and not _elsewhere(node, around):
                function = next((item for item in reversed(around) if isinstance(item, FUNCTIONS)), tree)
                state = BY_MODEL if _OVER_STAGES in ast.dump(function) else REFUSED
                found.append((state, " ".join(text.split()), f"{path}:{getattr(node, 'lineno', 1)}"))
    if found:
        state, reason, place = sorted(found, key=lambda item: item[0] != BY_MODEL)[0]
        return {"state": state, "reason": reason, "source": place}
    if engine == "vllm" and not relays:
        return {"state": UNSUPPORTED, "reason": _ABSENT, "source": None}
    return {"state": UNKNOWN, "reason": "no check of it was found", "source": None}


def _parsed(root: str, engine: str) -> Iterator[Tuple[str, str, ast.Module]]:
    for start in _FOLDERS[engine]:
        place = os.path.join(root, *start.split("/"))
        files = [place] if place.endswith(".py") else []
        for folder, _folders, names in sorted(os.walk(place)):
            files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
        for file in files:
            if not os.path.isfile(file):
                continue
            with open(file, encoding="utf-8", errors="replace") as stream:
                source = stream.read()
            if "pipeline" not in source.lower():
                continue
            try:
                yield os.path.relpath(file, root).replace(os.sep, "/"), source, parse(source)
            except SyntaxError:
                continue


def _checks(node: ast.AST, around: List[ast.AST]) -> Iterator[Tuple[ast.AST, List[ast.AST]]]:
    if isinstance(node, (ast.Raise, ast.Assert)):
        yield node, around
    for child in ast.iter_child_nodes(node):
        yield from _checks(child, [*around, node])


def _message(node: ast.AST) -> str:
    """The text of what is raised; a value in it by the name that it has in the source."""
    part = node.msg if isinstance(node, ast.Assert) else getattr(node, "exc", None)
    return "" if part is None else "".join(_texts(part))


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield node.value if isinstance(node.value, str) else ""
    elif isinstance(node, ast.FormattedValue):
        names = [item.attr if isinstance(item, ast.Attribute) else getattr(item, "id", "") for item in ast.walk(node)]
        yield "{" + next((part for part in names if part not in ("", "type", "__name__")), "") + "}"
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def _elsewhere(node: ast.AST, around: List[ast.AST]) -> bool:
    """Holds on another platform only, or lets EAGLE3 pass by name."""
    for place, inner in zip(around, [*around[1:], node]):
        if isinstance(place, ast.If) and "is_npu" in ast.dump(place.test) and inner in place.body:
            return True
    test = node.test if isinstance(node, ast.Assert) else None
    return test is not None and any(isinstance(n, ast.Constant) and n.value == "EAGLE3" for n in ast.walk(test))


__all__ = ("BY_MODEL", "REFUSED", "UNKNOWN", "UNSUPPORTED", "read")
