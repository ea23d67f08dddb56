# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands between a model that can capture and a draft that is served: lists and branches of the engine itself."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index, Module
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    called,
    dotted,
    last_part,
    statements,
    text_constant,
    text_list,
)

CONFIG_MODULES = ("vllm.config.speculative", "vllm.config")
DRAFTERS = "vllm/v1/spec_decode"
NEXT_RUNNER = "vllm/v1/worker/gpu"
TOKEN_FIELD = "image_token_index"
HEAD = "lm_head"
_IMAGE_ID = re.compile(r"(image|img|media).*token.*(id|index)$")

Edit = Dict[str, Any]


@dataclass(frozen=True)
class Whitelist:
    """The release's own list of model types that may have a draft with auxiliary states."""

    path: str
    scope: str
    variable: str
    entries: Tuple[str, ...]

    def missing(self, model_types: List[str]) -> List[str]:
        """The types that no entry covers, one for several where it is a part of them."""
        wanted = [kind for kind in model_types if not any(entry in kind for entry in self.entries)]
        return [kind for kind in wanted if not any(other != kind and other in kind for other in wanted)]

    def edits(self, model_types: List[str]) -> List[Edit]:
        return [
            {
                "id": f"speculative: {self.variable} takes {kind}",
                "file": self.path,
                "in": self.scope,
                "element": {"to": self.variable, "value": f'"{kind}"'},
            }
            for kind in self.missing(model_types)
        ]


def read_whitelist(index: Index) -> Optional[Whitelist]:
    """The list of a membership test on a model type, in the speculative config's own check; None: there is none."""
    for name in CONFIG_MODULES:
        module = index.module(name)
        for ref, function in _methods(module) if module is not None else ():
            lists = {}
            for node in statements(function.body):
                values = text_list(getattr(node, "value", None)) if isinstance(node, ast.Assign) else None
                if values is not None and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    lists[node.targets[0].id] = values
            tested = _tested_lists(function) if lists else ()
            for variable in tested:
                if variable in lists:
                    scope = f"{ref.name}.{function.name}"
                    return Whitelist(ref.module.path, scope, variable, tuple(lists[variable]))
    return None


def _methods(module: Module) -> Iterator[Tuple[ClassRef, ast.FunctionDef]]:
    for nodes in module.classes.values():
        for node in nodes:
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield ClassRef(module, node), inner


def _tested_lists(function: ast.FunctionDef) -> List[str]:
    """Lists that a generator goes through to find one of their strings inside some model type."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.GeneratorExp) and isinstance(node.elt, ast.Compare):
            over = node.generators[0].iter
            where = dotted(node.elt.comparators[0]) or ""
            if isinstance(over, ast.Name) and isinstance(node.elt.ops[0], ast.In) and last_part(where) == "model_type":
                found.append(over.id)
    return found


@dataclass(frozen=True)
class TokenBranch:
    """Where the drafter of the V1 runner takes the id of the image token from the target's config."""

    module: Module
    scope: str
    names: str
    target: str
    anchor: str
    known: Tuple[Tuple[str, str], ...]
    listed: Tuple[Tuple[str, str], ...]

    def handled(self, class_name: str) -> Optional[str]:
        return next((field for name, field in self.known if name == class_name), None)

    def edits(self, class_name: str, field: str) -> List[Edit]:
        """Joins the release's own list of classes with that field, or copies the field to the name that is read."""
        made: Edit = {
            "id": f"drafter: {field} of {class_name}",
            "file": self.module.path,
            "in": self.scope,
        }
        for pattern, listed in self.listed:
            if listed == field:
                made["element"] = {"to": pattern, "value": f'"{class_name}"'}
                return [made]
        made["insert"] = '{0}if {1} == "{2}":\n    {3}.config.{4} = {3}.config.{5}'.format(
            "", self.names, class_name, self.target, TOKEN_FIELD, field
        )
        made["before"] = self.anchor
        return [made]


def read_token_branch(index: Index) -> Optional[TokenBranch]:
    for name in _modules_with(index, DRAFTERS, (TOKEN_FIELD.encode("ascii"), b".config.")):
        module = index.module(name)
        for ref, function in _methods(module) if module is not None else ():
            for node in statements(function.body):
                source = _copied(node)
                if source is not None and last_part(source) == TOKEN_FIELD:
                    return _branch(ref, function, node, source)
    return None


def _copied(node: ast.stmt) -> Optional[str]:
    """``target.config.x`` where the statement copies it to the draft's image token id."""
    if isinstance(node, ast.Assign) and (dotted(node.targets[0]) or "").endswith(".config." + TOKEN_FIELD):
        return dotted(node.value)
    return None


def _branch(ref: ClassRef, function: ast.FunctionDef, fallback: ast.stmt, source: str) -> TokenBranch:
    target = source.split(".", 1)[0]
    module = ref.module
    known: List[Tuple[str, str]] = []
    listed: List[Tuple[str, str]] = []
    names = f"type({target}).__name__"
    anchor = module.segment(fallback)
    chain = None
    for node in statements(function.body):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and _else_holds(node, fallback):
            chain = chain or node
            test = node.test
            names = module.segment(test.left)
            field = next((_field(_copied(inner)) for inner in statements(node.body) if _copied(inner)), None)
            classes = text_list(test.comparators[0]) or [text_constant(test.comparators[0]) or ""]
            known.extend((one, field or "") for one in classes)
            if isinstance(test.comparators[0], ast.List) and field is not None:
                listed.append((f"{names} in [$$$]", field))
    if chain is not None:
        head = chain.test
        if not isinstance(head, ast.Compare):
            raise AssertionError("isinstance(head, ast.Compare)")
        right = "[$$$]" if isinstance(head.comparators[0], ast.List) else module.segment(head.comparators[0])
        word = "in" if isinstance(head.ops[0], ast.In) else "=="
        anchor = f"if {names} {word} {right}: $$$"
    return TokenBranch(module, f"{ref.name}.{function.name}", names, target, anchor, tuple(known), tuple(listed))


def _field(source: Optional[str]) -> str:
    return (source or "").split(".config.", 1)[-1]


def _else_holds(node: ast.If, wanted: ast.stmt) -> bool:
    return any(inner is wanted for inner in statements(node.orelse))


def token_field(index: Index, ref: ClassRef, config: Optional[Dict[str, Any]]) -> Optional[str]:
    """The name under which a wrapper's config holds its image token's id; the drafter's own name where it has that."""
    used: List[str] = []
    for member in index.mro(ref):
        if member.module.name.endswith(".interfaces"):
            continue
        for function in index.own_methods(member).values():
            for node in ast.walk(function):
                name = dotted(node) if isinstance(node, ast.Attribute) else None
                parts = name.split(".") if name is not None else []
                of_config = len(parts) > 1 and parts[-2] != "self" and _IMAGE_ID.search(parts[-1]) is not None
                if of_config and parts[-1] not in used:
                    used.append(parts[-1])
    given = [name for name in config if _IMAGE_ID.search(name)] if config is not None else []
    if TOKEN_FIELD in used or TOKEN_FIELD in given:
        return TOKEN_FIELD
    options = [name for name in used if not given or name in given] or used or given
    if "image_token_id" in options:
        return "image_token_id"
    return options[0] if len(options) == 1 else None


@dataclass(frozen=True)
class Reach:
    """The names by which the drafter reaches into a language model: its decoder, and that one's embedding."""

    model: str = "model"
    embeddings: Tuple[str, ...] = ("embed_tokens", "embedding")


def read_reach(index: Index) -> Reach:
    """From ``if hasattr(inner, "x"): shared = inner.x`` with ``inner`` an attribute of the target's language model."""
    for name in _modules_with(index, DRAFTERS, (b"hasattr(", HEAD.encode("ascii"))):
        module = index.module(name)
        for _ref, function in _methods(module) if module is not None else ():
            found: Dict[str, List[str]] = {}
            for node in statements(function.body):
                inner, asked = _asked(node)
                if inner is not None and asked is not None:
                    found.setdefault(inner, []).append(asked)
            for inner, embeddings in found.items():
                model = _attribute_of(function, inner)
                if model is not None and len(embeddings) > 1:
                    return Reach(model, tuple(embeddings))
    return Reach()


def _asked(node: ast.stmt) -> Tuple[Optional[str], Optional[str]]:
    """``inner`` and ``x`` of ``if hasattr(inner, "x"): something = inner.x``."""
    if not isinstance(node, ast.If) or called(node.test) != "hasattr" or not isinstance(node.test, ast.Call):
        return None, None
    inner, asked = dotted(node.test.args[0]), text_constant(node.test.args[1])
    taken = dotted(getattr(node.body[0], "value", None))
    return (inner, asked) if taken == f"{inner}.{asked}" else (None, None)


def _attribute_of(function: ast.FunctionDef, name: str) -> Optional[str]:
    """``m`` where a name is ``target.m`` itself, or holds ``getattr(target, "m", ...)``."""
    if "." in name:
        return last_part(name)
    for node in statements(function.body):
        if isinstance(node, ast.Assign) and dotted(node.targets[0]) == name and called(node.value) == "getattr":
            return text_constant(getattr(node.value, "args", [None, None])[1])
    return None


@dataclass(frozen=True)
class DraftTypes:
    """Where the release decides whether a draft has latent attention: the model types it knows, targets and drafts."""

    module: Module
    scope: str
    pattern: str
    targets: Tuple[str, ...]
    drafts: Tuple[str, ...]

    def missing(self, model_types: List[str]) -> List[str]:
        return [kind for kind in model_types if kind in self.targets and kind not in self.drafts]

    def edits(self, model_types: List[str]) -> List[Edit]:
        return [
            {
                "id": "latent attention in drafts of type " + kind,
                "file": self.module.path,
                "in": self.scope,
                "element": {"to": self.pattern, "value": f'"{kind}"'},
            }
            for kind in self.missing(model_types)
        ]


def read_draft_types(index: Index) -> Optional[DraftTypes]:
    for name in _modules_with(index, "vllm/transformers_utils", (b'== "eagle"', b"kv_lora_rank", b".model.model_type")):
        module = index.module(name)
        for ref, function in _methods(module) if module is not None else ():
            tests = [node for node in ast.walk(function) if isinstance(node, ast.Compare)]
            lists = [(node, text_list(node.comparators[0]) or []) for node in tests if isinstance(node.ops[0], ast.In)]
            inner = [pair for pair in lists if (dotted(pair[0].left) or "").endswith(".model.model_type")]
            outer = [
                pair for pair in lists if pair not in inner and last_part(dotted(pair[0].left) or "") == "model_type"
            ]
            if len(inner) == 1 and outer:
                node, drafts = inner[0]
                display = "[$$$]" if isinstance(node.comparators[0], ast.List) else "($$$,)"
                scope = f"{ref.name}.{function.name}"
                pattern = f"{ref.module.segment(node.left)} in {display}"
                return DraftTypes(ref.module, scope, pattern, tuple(outer[0][1]), tuple(drafts))
    return None


def serves_bare_decoders(index: Index) -> bool:
    """The release's newer runner takes a wrapper's head where its language model is a bare decoder without one."""
    for name in _modules_with(index, NEXT_RUNNER + "/spec_decode", (HEAD.encode("ascii"), b" or getattr(")):
        module = index.module(name)
        for node in ast.walk(module.tree) if module is not None else ():
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
                asked = {
                    dotted(item.args[0])
                    for item in node.values
                    if isinstance(item, ast.Call)
                    and called(item) == "getattr"
                    and len(item.args) > 1
                    and text_constant(item.args[1]) == HEAD
                }
                if len(asked) > 1:
                    return True
    return False


def refuses_pipeline(index: Index) -> bool:
    """The newer runner refuses auxiliary states with pipeline parallelism outright."""
    return bool(_modules_with(index, NEXT_RUNNER, (b"EAGLE3 with pipeline parallel is not supported",)))


def _modules_with(index: Index, folder: str, words: Tuple[bytes, ...]) -> List[str]:
    """Names of the modules below a folder whose bytes hold all the words."""
    found = []
    top = os.path.join(index.root, folder)
    for place, _folders, files in sorted(os.walk(top)):
        for file in sorted(files):
            if not file.endswith(".py"):
                continue
            path = os.path.join(place, file)
            with open(path, "rb") as stream:
                source = stream.read()
            if all(word in source for word in words):
                parts = os.path.relpath(path, index.root)[: -len(".py")].split(os.sep)
                found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


__all__ = (
    "DraftTypes",
    "Reach",
    "TOKEN_FIELD",
    "TokenBranch",
    "Whitelist",
    "read_draft_types",
    "read_reach",
    "read_token_branch",
    "read_whitelist",
    "refuses_pipeline",
    "serves_bare_decoders",
    "token_field",
)
