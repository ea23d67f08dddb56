# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits, in the collection's own edit language, that give a class EAGLE-3 support."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Optional, Set

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    blocks,
    bound_names,
    called,
    dotted,
    self_attribute,
    statements,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_capture import Capture, Exit, is_handover
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_interface import (
    GETTERS,
    IDS,
    MIXIN,
    MIXIN_ADD,
    MIXIN_SETTER,
    PROTOCOL,
    SETTER,
    Interface,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_loop import Refusal, over
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_models import Model, Models

Edit = Dict[str, Any]
SORTED_IDS = "tuple(sorted(set(layers)))"


class Writer:
    """Writes edits against one release's interface."""

    def __init__(self, index: Index, interface: Interface, models: Models) -> None:
        self.index = index
        self.interface = interface
        self.models = models

    def edit(self, ref: ClassRef, what: str, scope: Optional[str], **keys: Any) -> Edit:
        stem = ref.module.name.split(".models.", 1)[-1]
        made: Edit = {"id": f"{stem}: {what}", "file": ref.module.path}
        if scope is not None:
            made["in"] = scope
        made.update(keys)
        return made

    def imports(self, ref: ClassRef, name: str) -> Edit:
        return self.edit(ref, "import " + name, None, **{"import": {"from": self.interface.module, "names": [name]}})

    def base(self, ref: ClassRef, name: str) -> List[Edit]:
        if name in self.index.lineage_names(ref):
            return []
        return [self.imports(ref, name), self.edit(ref, f"{ref.name} is a {name}", ref.name, base=name)]

    def method(self, ref: ClassRef, source: str) -> List[Edit]:
        name = source.split("def ", 1)[1].split("(", 1)[0]
        if self.index.method(ref, name) is not None:
            return []
        return [self.edit(ref, f"{ref.name}.{name}", ref.name, method=source)]

    # the class that the registry names

    def outer(self, model: Model) -> List[Edit]:
        """Base, setter and both getters of a class with a decoder of its own."""
        ref, decoder = model.outer, model.decoder
        if ref is None or decoder is None:
            raise AssertionError("ref is not None and decoder is not None")
        if model.flagged:
            return []
        owner = "self." + model.path[0]
        layers = self._layers(decoder) if model.capture is None else model.capture.loop.attribute
        if MIXIN in self.index.lineage_names(decoder) or self._takes_mixin(model):
            setter = f"{owner}.{MIXIN_SETTER}({SORTED_IDS})"
        else:
            setter = f"{owner}.{IDS} = {SORTED_IDS}"
        edits = self.base(ref, PROTOCOL)
        edits += self.method(ref, _method(SETTER, "layers: tuple[int, ...]", "None", [setter]))
        edits += self.method(
            ref,
            _method(
                GETTERS[0],
                "",
                "tuple[int, ...]",
                [
                    f"num_layers = len({owner}.{layers})",
                    "return (2, num_layers // 2, num_layers - 3)",
                ],
            ),
        )
        edits += self.method(ref, _method(GETTERS[1], "", "tuple[int, ...]", [f"return self.{GETTERS[0]}()"]))
        return edits + self.reachable(model)

    def _layers(self, decoder: ClassRef) -> str:
        """The attribute that holds the layers of a decoder that captures already."""
        forward = self.index.method(decoder, "forward")
        for node in statements(forward.node.body) if forward is not None else ():
            what = over(node.iter) if isinstance(node, ast.For) else None
            if what is not None and what.attribute is not None:
                return what.attribute
        raise Refusal("X6", f"the layers of {decoder.name} are not told by its forward")

    def _takes_mixin(self, model: Model) -> bool:
        return self.interface.mixin is not None and model.capture is not None

    def reachable(self, model: Model) -> List[Edit]:
        """The names by which the drafter finds the decoder and its embedding, where a class has others."""
        ref, decoder = model.outer, model.decoder
        edits: List[Edit] = []
        if ref is None or decoder is None:
            raise AssertionError("ref is not None and decoder is not None")
        reach = self.models.reach
        if model.shape != "W2" and self.models.hidden_model(ref, model.path[0]):
            edits += self.method(ref, "@property\n" + _method(reach.model, "", None, ["return self." + model.path[0]]))
        if self.models.hidden_embedding(decoder):
            held = embedding_of(self.index, decoder)
            if held is None:
                raise Refusal(
                    "X8", f"the embedding of {decoder.name}, which the drafter shares, is not told by the source"
                )
            edits += self.method(
                decoder, "@property\n" + _method(reach.embeddings[0], "", None, ["return self." + held])
            )
        return edits

    def wrapper(self, model: Model) -> List[Edit]:
        """Base, setter and both getters of a class that hands everything to a language model it holds."""
        ref = model.outer
        if ref is None:
            raise AssertionError("ref is not None")
        inner = "self." + model.path[0]
        ask = [f"return {inner}.{self.interface.getter}()"]
        edits = self.base(ref, PROTOCOL)
        edits += self.method(ref, _method(SETTER, "layers: tuple[int, ...]", "None", [f"{inner}.{SETTER}(layers)"]))
        for getter in GETTERS:
            edits += self.method(ref, _method(getter, "", "tuple[int, ...]", ask))
        return edits

    # the decoder

    def decoder(self, capture: Capture) -> List[Edit]:
        """Ids, capture in the loop over the layers, and the second result."""
        owner = capture.forward.owner
        function, loop = capture.forward.node, capture.loop
        scope = f"{owner.name}.{function.name}"
        taken = set(bound_names(function))
        states = _free("aux_hidden_states", taken)
        edits: List[Edit] = []
        if self.interface.mixin is not None:
            edits += self.base(owner, MIXIN)
        elif self.index.class_value(owner, IDS) is None:
            edits.append(
                self.edit(owner, f"{owner.name}.{IDS}", owner.name, insert=f"{IDS}: tuple[int, ...] = ()", at="start")
            )
        header = self._header(owner, loop.node)
        start = "0" if loop.over.start is None else owner.module.segment(loop.over.start)
        hidden, residual = loop.hidden, loop.residual if capture.summed else None
        first = hidden + ".clone()"
        if residual is not None:
            first = f"{hidden}.clone() if {residual} is None else {hidden} + {residual}"
        before = f"{states} = []\nif {start} in self.{IDS}:\n    {states}.append({first})"
        if loop.index is None:
            number = _free("layer_id", taken)
            before += f"\n{number} = {start}"
            after = f"{number} += 1\n"
        else:
            number, after = loop.index + " + 1", ""
        if residual is not None and self.interface.mixin is not None:
            after += f"self.{MIXIN_ADD}({states}, {number}, {hidden}, {residual})"
        else:
            value = hidden + ".clone()" if residual is None else f"{hidden} + {residual}"
            after += f"if {number} in self.{IDS}:\n    {states}.append({value})"
        edits.append(self.edit(owner, scope + " captures its input", scope, insert=before, before=header))
        edits.append(self.edit(owner, scope + " captures each layer", scope, insert=after, at="end", of=header))
        edits += self._exits(capture, scope, states)
        return edits

    def _header(self, owner: ClassRef, loop: ast.For) -> str:
        return f"for {owner.module.segment(loop.target)} in {owner.module.segment(loop.iter)}: $$$"

    def _exits(self, capture: Capture, scope: str, states: str) -> List[Edit]:
        owner, function = capture.forward.owner, capture.forward.node
        give = f"if {states}:\n    return {{0}}, {states}"
        what = scope + " returns the captured states"
        first = capture.exits[0]
        if first.value is None:
            if len(capture.exits) > 1:
                raise Refusal("X7", f"several returns of {scope} call the final norm")
            call = owner.module.segment(first.node)
            name = capture.loop.hidden
            source = "{0} = {1}\n{2}\nreturn {0}".format(name, call[len("return") :].strip(), give.format(name))
            return [self.edit(owner, what, scope, replace=call, **{"with": source})]
        source = give.format(first.value)
        if capture.twins == len(capture.exits):
            edit = self.edit(owner, what, scope, insert=source, before="return " + first.value)
            if capture.twins > 1:
                edit["count"] = capture.twins
            return [edit]
        edits = []
        for place, exit_ in enumerate(capture.exits, 1):
            anchor = self._statement_above(function, exit_)
            name = what if len(capture.exits) == 1 else f"{what} ({place})"
            edits.append(self.edit(owner, name, scope, insert=source, after=owner.module.segment(anchor)))
        return edits

    def _statement_above(self, function: ast.FunctionDef, exit_: Exit) -> ast.stmt:
        """The statement right above a return, when no other statement of the function is the same."""
        for block in _blocks(function):
            for above, node in zip(block, block[1:]):
                if node is exit_.node and not list(blocks(above)):
                    text = ast.dump(above)
                    if sum(ast.dump(other) == text for other in statements(function.body)) == 1:
                        return above
        raise Refusal("X7", f"no statement tells the return at line {exit_.node.lineno} from the others")

    # the last layer of a decoder that captures already

    def last_layer(self, decoder: ClassRef) -> List[Edit]:
        """Lets a decoder that captures at the top of each step hand out its last layer's id too."""
        forward = self.index.method(decoder, "forward")
        if forward is None:
            raise AssertionError("forward is not None")
        owner, function = forward.owner, forward.node
        scope = f"{owner.name}.{function.name}"
        for loop in statements(function.body):
            if not isinstance(loop, ast.For):
                continue
            for node in statements(loop.body):
                source = self._again(owner, loop, node)
                if source is None:
                    continue
                place = self._after_layers(owner, function, loop)
                if place is None:
                    raise Refusal(
                        "X7", f"the loop of {scope} is not followed by the final norm, so its last state may be a part"
                    )
                return [self.edit(owner, scope + " captures the last layer", scope, insert=source, **place)]
        raise Refusal("X6", f"how {scope} captures is not understood")

    def _again(self, owner: ClassRef, loop: ast.For, node: ast.stmt) -> Optional[str]:
        """The capture of one step, rewritten for the end of the layers."""
        if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
            return None
        if self_attribute(node.test.comparators[0]) != IDS or not isinstance(node.test.ops[0], ast.In):
            return None
        end = _end_of(loop.iter)
        if end is None:
            raise Refusal("X4", f"where the layers of {owner.name} end is not told by its loop")
        body = "\n".join(self._again_source(owner, inner) for inner in node.body)
        return f"if {owner.module.segment(end)} in self.{IDS}:\n{body}"

    def _again_source(self, owner: ClassRef, node: ast.stmt) -> str:
        """A statement's source at one level of indentation."""
        first, *rest = owner.module.segment(node).split("\n")
        margin = " " * node.col_offset
        lines = [first] + [line[len(margin) :] if line.startswith(margin) else line for line in rest]
        return "\n".join("    " + line for line in lines)

    def _after_layers(self, owner: ClassRef, function: ast.FunctionDef, loop: ast.For) -> Optional[Dict[str, str]]:
        """Right before the final norm; anything else that follows the loop may be what makes the state whole."""
        block = next((block for block in _blocks(function) if loop in block), [])
        for node in block[block.index(loop) + 1 :] if block else []:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign) and isinstance(value, ast.Call) and self_attribute(value.func) is not None:
                return {"before": owner.module.segment(node)}
            if not (isinstance(node, ast.If) and any(is_handover(inner) for inner in statements(node.body))):
                break
        return None


def _end_of(node: ast.expr) -> Optional[ast.expr]:
    if isinstance(node, ast.Call) and called(node) == "enumerate" and node.args:
        return _end_of(node.args[0])
    if isinstance(node, ast.Call) and called(node) == "islice" and len(node.args) == 3:
        return node.args[2]
    if isinstance(node, ast.Call) and called(node) == "range" and len(node.args) == 2:
        return node.args[1]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return node.slice.upper
    return None


def _blocks(function: ast.FunctionDef) -> List[List[ast.stmt]]:
    return [function.body] + [block for node in statements(function.body) for block in blocks(node)]


def _method(name: str, parameters: str, returns: Optional[str], body: List[str]) -> str:
    given = "self, " + parameters if parameters else "self"
    mark = "" if returns is None else " -> " + returns
    return "def {}({}){}:\n{}\n".format(name, given, mark, "\n".join("    " + line for line in body))


def _free(name: str, taken: Set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def embedding_of(index: Index, decoder: ClassRef) -> Optional[str]:
    """``x`` where the decoder embeds token ids by ``self.x(...)``."""
    for name in ("embed_input_ids", "get_input_embeddings"):
        method = index.method(decoder, name)
        if method is not None:
            for node in statements(method.node.body):
                value = getattr(node, "value", None)
                if isinstance(node, ast.Return) and isinstance(value, ast.Call) and dotted(value.func):
                    return self_attribute(value.func)
    return None


__all__ = ("Edit", "Writer")
