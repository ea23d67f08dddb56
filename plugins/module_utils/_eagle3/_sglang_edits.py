# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The edits that give an SGLang model its capture, in ``python_ast_edit``'s language."""

from __future__ import annotations

import ast
import textwrap
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, MethodRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_loop import Loop
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_outer import Head
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import (
    AUX,
    GETTER,
    SET_EMBED,
    SETTER,
    Reader,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import bound_names, statements

IDS = "layers_to_capture"
FLAG = "capture_aux_hidden_states"

Edit = Dict[str, Any]


def _edit(owner: ClassRef, scope: Optional[str], name: str, **operation: Any) -> Edit:
    edit: Edit = {"file": owner.module.path}
    edit["in"] = owner.name if scope is None else f"{owner.name}.{scope}"
    edit["id"] = f"{owner.name}-{name}"
    edit.update(operation)
    return edit


def flat(text: str) -> str:
    """Source of an expression or simple statement on one line, where that cannot change its meaning."""
    if "\n" not in text or any(mark in text for mark in "#'\"\\"):
        return text
    return " ".join(text.split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")


def free(function: ast.AST, wanted: str) -> str:
    taken = set(bound_names(function))
    while wanted in taken:
        wanted += "_"
    return wanted


def attribute_edit(reader: Reader, owner: ClassRef, name: str, value: str, label: str) -> Edit:
    """``self.name = value`` at the end of the class's own ``__init__``; without one, a class attribute."""
    init = reader.index.own_methods(owner).get("__init__")
    if init is None or any(isinstance(node, ast.Return) for node in statements(init.body)):
        return _edit(owner, None, label, insert="{} = {}".format(name, "()" if value == "[]" else value), at="start")
    return _edit(owner, "__init__", label, insert=f"self.{name} = {value}", at="end")


def same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def matches(function: ast.FunctionDef, node: ast.stmt) -> int:
    """How many statements of a function equal one of them."""
    return sum(1 for item in statements(function.body) if same(item, node))


def header_of(loop: Loop) -> str:
    """The pattern that finds a loop by its header."""
    module = loop.forward.owner.module
    return f"for {module.segment(loop.node.target)} in {flat(module.segment(loop.node.iter))}:\n    $$$"


def top_pattern(loop: Loop) -> Optional[str]:
    """The pattern of the statement of the function's own block that holds the loop; None: it has no header to go by."""
    module, top = loop.forward.owner.module, loop.top
    if top is loop.node:
        return header_of(loop)
    if isinstance(top, ast.If):
        return f"if {flat(module.segment(top.test))}:\n    $$$"
    return None


def capture_edits(
    reader: Reader,
    loop: Loop,
    states: Optional[str],
    ids: Optional[str],
    value: str,
    returns: Sequence[ast.Return],
) -> Tuple[str, List[Edit]]:
    """The edits of an inner model, and the attribute that takes layer numbers.

    ``value``: the statements that put one state into ``$STATES``.
    """
    forward = loop.forward
    owner, function = forward.owner, forward.node
    edits: List[Edit] = []
    attribute = ids or IDS
    if not reader.index.attribute(owner, attribute) and reader.index.class_value(owner, attribute) is None:
        edits.append(attribute_edit(reader, owner, attribute, "[]", "layer-ids"))
    name = states or free(function, AUX)
    index, header, top = loop.counter, header_of(loop), top_pattern(loop)
    if index is None:
        index = free(function, "layer_index")
        module = owner.module
        target, source = module.segment(loop.node.target), flat(module.segment(loop.node.iter))
        counted = f"for {index}, {target} in enumerate({source}):\n    $$$"
        edits.append(_edit(owner, function.name, "count", replace=header + "BODY", **{"with": counted + "BODY"}))
        header, top = counted, counted if loop.top is loop.node else top
    if states is None:
        edits.append(_edit(owner, function.name, "states", insert=f"{name} = []", before=top or header))
    number = index if loop.offset is None else f"{index} + {loop.offset}"
    body = "if {} in self.{}:\n{}".format(number, attribute, textwrap.indent(value.replace("$STATES", name), "    "))
    edits.append(_edit(owner, function.name, "capture", insert=body, at="start", of=header))
    done: List[str] = []
    for node in returns if states is None else ():
        text = flat(owner.module.segment(node.value)) if node.value is not None else "None"
        if text in done:
            continue
        done.append(text)
        count = matches(function, node)
        edit = _edit(
            owner,
            function.name,
            "return" if len(done) == 1 else f"return-{len(done)}",
            insert=f"if {name}:\n    return {text}, {name}",
            before=f"return {text}",
        )
        if count > 1:
            edit["count"] = count
        edits.append(edit)
    return attribute, edits


def head_edits(reader: Reader, head: Head) -> Tuple[str, List[Edit]]:
    """The edits that take the states apart and hand them to the logits processor. Gives the flag's attribute."""
    forward = head.forward
    owner, function, module = forward.owner, forward.node, forward.owner.module
    edits: List[Edit] = []
    flag = head.flag or FLAG
    if not reader.index.attribute(owner, flag) and reader.index.class_value(owner, flag) is None:
        edits.append(attribute_edit(reader, owner, flag, "False", "flag"))
    states = head.states or free(function, AUX)
    if head.states is None:
        done: List[str] = []
        for node in head.sources:
            text = flat(module.segment(node))
            if text in done:
                continue
            done.append(text)
            edit = _edit(
                owner,
                function.name,
                "unpack" if len(done) == 1 else f"unpack-{len(done)}",
                insert=f"{states} = None\nif self.{flag}:\n    {head.hidden}, {states} = {head.hidden}",
                after=text,
            )
            count = matches(function, node)
            if count > 1:
                edit["count"] = count
            edits.append(edit)
    edits.extend(_logits_edits(head, owner, function, states))
    return flag, edits


def _logits_edits(head: Head, owner: ClassRef, function: ast.FunctionDef, states: str) -> List[Edit]:
    """``f(a, h, c, d)`` becomes ``f(a, h, c, d, aux_hidden_states=states)``, its arguments kept as they are written."""
    found: Dict[str, int] = {}
    after: Dict[str, str] = {}
    for item in head.logits:
        if item.passes:
            continue
        given = [
            head.hidden if isinstance(value, ast.Name) and value.id == head.hidden else f"$ARGUMENT{number}"
            for number, value in enumerate(item.call.args, 1)
        ]
        given += ["{}=${}".format(keyword.arg, (keyword.arg or "").upper()) for keyword in item.call.keywords]
        target = owner.module.segment(item.call.func)
        pattern = "{}({})".format(target, ", ".join(given))
        found[pattern] = found.get(pattern, 0) + 1
        after[pattern] = "{}({}, {}={})".format(target, ", ".join(given), item.parameter, states)
    edits = []
    for number, (pattern, count) in enumerate(found.items(), 1):
        edit = _edit(
            owner,
            function.name,
            "logits" if number == 1 else f"logits-{number}",
            replace=pattern,
            **{"with": after[pattern]},
        )
        if count > 1:
            edit["count"] = count
        edits.append(edit)
    return edits


def rank_guard(forward: MethodRef) -> Optional[str]:
    """What a forward asks whether this is the last pipeline rank, as written."""
    for node in ast.walk(forward.node):
        if isinstance(node, ast.Attribute) and node.attr == "is_last_rank":
            return forward.owner.module.segment(node)
    return None


def _plus(text: str, step: int) -> str:
    return text if not step else f"{text} {'+' if step > 0 else '-'} {abs(step)}"


def setter_edit(
    owner: ClassRef, forward: MethodRef, flag: str, target: str, layers: str, method: bool, shift: int
) -> Edit:
    """``set_eagle3_layers_to_capture``; ``target``: the attribute that takes the list, or the method that does."""
    step = shift - 1
    default = f"[{2 + step}, {_plus('num_layers // 2', step)}, {_plus('num_layers', step - 3)}]"
    given = f"[{_plus('layer_id', shift)} for layer_id in layer_ids]" if shift else "list(layer_ids)"
    give = "{}({})" if method else "{} = {}"
    guard = rank_guard(forward)
    lines = [f"def {SETTER}(self, layer_ids=None):"]
    if guard is not None:
        lines += [f"    if not {guard}:", "        return"]
    lines += [
        f"    self.{flag} = True",
        "    if layer_ids is None:",
        f"        num_layers = len({layers})",
        "        " + give.format(target, default),
        "    else:",
        "        " + give.format(target, given),
    ]
    return _edit(owner, None, "setter", method="\n".join(lines) + "\n")


def getter_edit(owner: ClassRef, embed: str, head: str) -> Edit:
    source = f"def {GETTER}(self):\n    return {embed}.weight, {head}.weight\n"
    return _edit(owner, None, "embed-and-head", method=source)


def delegate_edits(owner: ClassRef, inner: str, wanted: Sequence[str]) -> List[Edit]:
    """Methods that pass on to ``self.<inner>``."""
    sources = {
        SETTER: ("setter", f"def {SETTER}(self, layer_ids=None):\n    {inner}.{SETTER}(layer_ids)\n"),
        GETTER: ("embed-and-head", f"def {GETTER}(self):\n    return {inner}.{GETTER}()\n"),
        SET_EMBED: (
            "set-embed-and-head",
            f"def {SET_EMBED}(self, embed, head):\n    {inner}.{SET_EMBED}(embed, head)\n",
        ),
    }
    return [_edit(owner, None, sources[name][0], method=sources[name][1]) for name in wanted]


__all__ = (
    "Edit",
    "FLAG",
    "IDS",
    "capture_edits",
    "delegate_edits",
    "free",
    "getter_edit",
    "head_edits",
    "header_of",
    "matches",
    "same",
    "setter_edit",
    "top_pattern",
)
