# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every architecture of released SGLangs that is called patchable: patched, read again, and run without torch.

The patched source itself runs: setter, both forwards and the layers' own forward, with numbers for tensors. What each
layer is given is noted by the first module that it calls, so the note depends on no reading of ours. Norms change their
arguments in place, as the engine's kernels do.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import itertools
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_loop import Inner, find_loop
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import called
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan
from ansible_collections.specdec.blackwell.plugins.module_utils._release_view import release_view

Entry = dict[str, Any]
N = 6
PRIME = 2**61 - 1
SETTER, GETTER = "set_eagle3_layers_to_capture", "get_embed_and_head"

# trees


def survey(root: Path, names: list[str] | None) -> dict[str, Entry]:
    response = derive.run_request({"engine": "sglang", "root": str(root), "architectures": names, "model_config": None})
    assert response["error"] is None, response["error"]
    found: dict[str, Entry] = response["architectures"]
    return found


def planned(root: Path, contents: dict[str, bytes], edits: list[Entry]) -> dict[str, bytes]:
    """The files that ``edits`` change, on top of ``contents``."""
    files: dict[str, File | None] = {}
    for name in {edit["file"] for edit in edits}:
        data = contents.get(name) or (root / name).read_bytes()
        files[name] = File(data, name.removesuffix(".py").replace("/", "."))
    result = plan(edits, files)
    assert result["ok"], [item for item in result["edits"] if item["state"] not in ("pristine", "present")]
    return {name: item["after"] for name, item in result["files"].items() if item["changed"]}


class Patched:
    """A release with every patchable architecture patched, one after the other."""

    def __init__(self, version: str) -> None:
        self.root = releases.tree("sglang", version)
        names = sorted(survey(self.root, None))
        self.before = survey(self.root, names)
        self.contents: dict[str, bytes] = {}
        for name in names:
            if self.before[name]["state"] == "patchable":
                self.contents.update(planned(self.root, self.contents, self.before[name]["edits"]))


_PATCHED: dict[str, Patched] = {}


def patched(version: str) -> Patched:
    """Made once."""
    if version not in _PATCHED:
        _PATCHED[version] = Patched(version)
    return _PATCHED[version]


# numbers for tensors


def mix(*parts: Any) -> int:
    return zlib.crc32(repr(parts).encode()) * 2654435761 % PRIME


class Tensor:
    """A number that can be changed in place. Anything unknown makes another number of it."""

    def __init__(self, value: int) -> None:
        self.value = value % PRIME
        self.shape = (4, 8)

    def clone(self) -> Tensor:
        return Tensor(self.value)

    def __add__(self, other: Any) -> Tensor:
        return Tensor(self.value + number(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Tensor:
        return Tensor(self.value - number(other))

    def __mul__(self, other: Any) -> Tensor:
        return Tensor(self.value * number(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tensor:
        return Tensor(self.value * pow(number(other) or 1, -1, PRIME))

    def __pow__(self, power: Any) -> Tensor:
        return Tensor(mix("power", self.value))

    def __getitem__(self, item: Any) -> Tensor:
        return Tensor(mix("item", self.value))

    def __iter__(self) -> Iterator[Any]:
        """What a linear layer gives: the result and no bias."""
        return iter((self, None))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("device", "dtype"):
            return Anything(name)
        if name == "numel":
            return lambda: self.shape[0]
        if name in ("split", "chunk"):
            return self._cut
        return lambda *args, **kwargs: Tensor(mix(name, self.value))

    def _cut(self, sizes: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        count = len(sizes) if isinstance(sizes, (list, tuple)) else sizes if isinstance(sizes, int) else 2
        return tuple(Tensor(mix("cut", self.value, i)) for i in range(count))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Tensor({self.value})"


def number(thing: Any) -> int:
    if isinstance(thing, Tensor):
        return thing.value
    if thing is None:
        raise TypeError("None is no tensor")
    return thing if isinstance(thing, int) else mix(getattr(thing, "name", None) or str(thing))


TRUE = {"is_first_rank", "is_last_rank"}


class Anything:
    """What the engine has and no state depends on: false, callable, with every attribute."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "num_hidden_layers":
            return N
        return True if name in TRUE else Anything(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [item.value for item in (*args, *kwargs.values()) if isinstance(item, Tensor)]
        return Tensor(mix(self._name, given)) if given else Anything(f"{self._name}()")

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *details: Any) -> None:
        return None

    def __getitem__(self, item: Any) -> Any:
        return Anything(f"{self._name}[]")

    def __setitem__(self, place: Any, item: Any) -> None:
        """Nothing is kept."""

    def __contains__(self, item: object) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        """A pair, the one thing that forwards take apart."""
        return iter((self[0], self[1]))

    def __index__(self) -> int:
        return N

    def __float__(self) -> float:
        return float(mix(self._name) % 97 + 2)

    def __str__(self) -> str:
        return str(self._name)

    def _same(self, *other: Any) -> Any:
        return Tensor(mix(self._name, other[0].value)) if isinstance(other[0], Tensor) else Anything(self._name)

    __add__ = __radd__ = __mul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __pow__ = __floordiv__ = _same

    def __rmul__(self, other: Any) -> Any:
        return other.__mul__(self) if isinstance(other, Tensor) else self

    def __lt__(self, other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


class AnyClass(type):
    def __instancecheck__(cls, item: object) -> bool:
        return True


# the engine's own parts


class Norm:
    """RMSNorm: with a residual it adds, in place, and gives both."""

    def __init__(self, note: Callable[[int], None], name: str) -> None:
        self.note, self.name, self.weight = note, name, Anything(name)

    def __call__(self, x: Tensor, residual: Tensor | None = None, *rest: Any, **kwargs: Any) -> Any:
        if residual is None:
            self.note(x.value)
            return Tensor(mix("norm", self.name, x.value))
        residual.value = (residual.value + x.value) % PRIME
        self.note(residual.value)
        x.value = mix("norm", self.name, residual.value)
        return x, residual


class PassingNorm(Norm):
    """A norm that takes a residual and hands it back as it came."""

    def __call__(self, x: Tensor, residual: Tensor | None = None, *rest: Any, **kwargs: Any) -> Any:
        self.note(x.value)
        return Tensor(mix("norm", self.name, x.value)), residual


class Part:
    """Attention, feed-forward and whatever else a layer calls."""

    def __init__(self, note: Callable[[int], None], name: str) -> None:
        self.note, self.name, self.weight = note, name, Anything(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        given = [item.value for item in (*args, *kwargs.values()) if isinstance(item, Tensor)]
        if given:
            self.note(given[0])
        return Tensor(mix(self.name, given))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("forward", "forward_cuda"):
            return self.__call__
        return True if name in TRUE else Anything(f"{self.name}.{name}")


class Boundary:
    """A stage's boundary: owns the residual; adds what came since, at the next entry."""

    def __init__(self, note: Callable[[int], None], name: str) -> None:
        self.note, self.name = note, name

    def prepare(self, hidden: Tensor, batch: Any, **kwargs: Any) -> Tensor:
        whole = hidden.value + (batch.residual or 0)
        batch.residual = whole
        self.note(whole % PRIME)
        taken = kwargs.get("capture") or kwargs.get("capture_output")
        if taken is not None:
            taken(Tensor(whole), owned=True)
        gathered = kwargs.get("capture_gathered", kwargs.get("captured_last_layer_outputs"))
        if gathered is not None:
            gathered.append(Tensor(whole))
        return Tensor(mix("norm", self.name, whole % PRIME))

    def finish(self, hidden: Tensor, batch: Any = None, **kwargs: Any) -> Tensor:
        return hidden

    def exit(self, batch: Any, **kwargs: Any) -> Any:
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *details: Any) -> None:
        return None

    def capture_output(self, hidden: Tensor, batch: Any) -> tuple[Tensor, Tensor]:
        return hidden, Tensor(hidden.value + (batch.residual or 0))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)


class Communicator(Norm):
    """The older way around a layer, on one rank: norms with the residual, nothing else."""

    def prepare_attn(self, hidden: Tensor, residual: Tensor | None, batch: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if residual is None:
            return self(hidden), hidden
        after: tuple[Tensor, Tensor] = self(hidden, residual)
        return after

    def prepare_attn_and_capture_last_layer_outputs(
        self,
        hidden: Tensor,
        residual: Tensor | None,
        batch: Any,
        captured_last_layer_outputs: Any = None,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor]:
        hidden, residual = self.prepare_attn(hidden, residual, batch)
        if captured_last_layer_outputs is not None:
            captured_last_layer_outputs.append(residual.clone())
        return hidden, residual

    prepare_mlp = prepare_attn

    def postprocess_layer(self, hidden: Tensor, residual: Tensor, batch: Any) -> tuple[Tensor, Tensor]:
        return hidden, residual

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)


class Owner:
    """The module that keeps a batch's residual."""

    def start(self, batch: Any) -> None:
        batch.residual = None

    def snapshot(self, hidden: Tensor, batch: Any) -> Tensor:
        return Tensor(hidden.value + (batch.residual or 0))

    def complete_output(self, hidden: Tensor, batch: Any) -> Tensor:
        return hidden

    def final_norm(self, hidden: Tensor, batch: Any, norm: Any, **kwargs: Any) -> Any:
        return norm(Tensor(hidden.value + (batch.residual or 0)))

    norm = final_norm

    def fold(self, hidden: Tensor, batch: Any) -> Tensor:
        whole = Tensor(hidden.value + (batch.residual or 0))
        batch.residual = None
        return whole

    def take_output(self, hidden: Tensor, batch: Any) -> Tensor:
        return hidden


FUSED = {("sglang.srt.layers.layernorm", "RMSNorm"), ("sglang.srt.layers.layernorm", "GemmaRMSNorm")}
PASSING = {("sglang.srt.models.commandr", "LayerNorm")}


class StateList(list[Any]):
    """The engine's list of states, with the callback that boundaries take."""

    def capture(self, value: Tensor, *, owned: bool = False) -> None:
        self.append(value if owned else value.clone())


def routine(*args: Any, **kwargs: Any) -> Any:
    """The engine's multimodal routine: it embeds, and calls the language model with keywords."""
    kwargs = {name: value for name, value in kwargs.items() if name in ("language_model", "forward_batch", "positions")}
    model = kwargs.pop("language_model")
    embed = model.get_input_embeddings()
    return model(input_ids=None, input_embeds=embed(Tensor(mix("tokens"))), **kwargs)


def snapshot(hidden: Tensor, residual: Tensor | None) -> Tensor:
    """The engine's own copy of the stream, where the residual is carried beside it."""
    return hidden.clone() if residual is None else hidden + residual


def entry_norm(norm: Any, hidden: Tensor, residual: Tensor | None) -> Any:
    """The engine's own opening of a layer."""
    return (norm(hidden), hidden) if residual is None else norm(hidden, residual)


class Logits:
    """The logits processor: keeps what it is given."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __call__(
        self,
        input_ids: Any,
        hidden_states: Any,
        lm_head: Any,
        logits_metadata: Any,
        aux_hidden_states: Any = None,
        **rest: Any,
    ) -> str:
        self.calls.append((hidden_states, lm_head, aux_hidden_states))
        return "logits"


class Model:
    """An instance of a class of the tree: its methods run, its attributes are what its source says of them."""

    def __init__(self, machine: Machine, ref: ClassRef, name: str, layer: int | None = None) -> None:
        self.__dict__.update(_machine=machine, _ref=ref, _name=name, _layer=layer)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        method = self._machine.reader.index.method(self._ref, name)
        if method is not None:
            function = self._machine.function(method.owner, method.node)
            marks = [ast.unparse(mark) for mark in method.node.decorator_list]
            bound = (
                (lambda *args, **kwargs: function(self, *args, **kwargs)) if "staticmethod" not in marks else function
            )
            return bound() if "property" in marks else bound
        value = self._machine.attribute(self, name)
        self.__dict__[name] = value
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def note(self, value: int) -> None:
        self._machine.notes.setdefault(self._layer, value)


class Importless(ast.NodeTransformer):
    """Imports inside functions stand for anything, as those of the module do."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``super()`` needs the class around it; here the class is handed in."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return ast.copy_location(ast.parse("super_of(self)", mode="eval").body, node)
        return node


class Above:
    """A model seen from one of its classes: only what lies above."""

    def __init__(self, model: Model, owner: ClassRef) -> None:
        self.model, self.owner = model, owner

    def __getattr__(self, name: str) -> Any:
        index = self.model._machine.reader.index
        order = index.mro(self.model._ref)
        for ref in order[order.index(self.owner) + 1 :]:
            if name in index.own_methods(ref):
                function = self.model._machine.function(ref, index.own_methods(ref)[name])
                return lambda *args, **kwargs: function(self.model, *args, **kwargs)
        raise AttributeError(name)


class Machine:
    """Runs a class of a tree."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.notes: dict[int | None, int] = {}
        self.logits = Logits()
        self._functions: dict[tuple[str, str, str], Callable[..., Any]] = {}

    def function(self, owner: ClassRef, node: ast.FunctionDef) -> Callable[..., Any]:
        key = (*owner.key, node.name)
        if key not in self._functions:
            bare = ast.parse(ast.unparse(node)).body[0]
            assert isinstance(bare, ast.FunctionDef)
            bare.decorator_list = []
            bare = ast.fix_missing_locations(Importless().visit(bare))
            names = {item.id for item in ast.walk(bare) if isinstance(item, ast.Name)}
            asked = {
                item.id
                for call in ast.walk(bare)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance"
                for item in (call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]])
                if isinstance(item, ast.Name)
            }
            space: dict[str, Any] = {name: Anything(name) for name in names if not hasattr(builtins, name)}
            space.update({name: AnyClass(name, (), {}) for name in asked if not hasattr(builtins, name)})
            space.update(islice=itertools.islice, math=math, nullcontext=contextlib.nullcontext, residual_batch=Owner())
            space.update(general_mm_embed_routine=routine, AuxHiddenStateList=StateList)
            space.update(input_norm_maybe_fuse_allreduce=entry_norm)
            space.update(snapshot=snapshot, finish_layer_stack=lambda hidden, residual, batch: (hidden, residual))
            space["super_of"] = lambda model: Above(model, owner)
            space.update(self._helpers(owner, names))
            code = compile(ast.Module([bare], []), str(key), "exec", flags=__future__.annotations.compiler_flag)
            exec(code, space)
            self._functions[key] = space[node.name]
        return self._functions[key]

    def _helpers(self, owner: ClassRef, names: set[str]) -> dict[str, Any]:
        """Functions of the model's own module: they run too."""
        found: dict[str, Any] = {}
        for name in names & set(owner.module.functions):
            node = owner.module.functions[name]
            if isinstance(node, ast.FunctionDef):
                found[name] = self.function(owner, node)
        return found

    def attribute(self, model: Model, name: str) -> Any:
        if name in ("start_layer", "end_layer"):
            return 0 if name == "start_layer" else N
        reader, ref = self.reader, model._ref
        values = reader.index.attribute(ref, name) or [
            item for item in [reader.index.class_value(ref, name)] if item is not None
        ]
        path = f"{model._name}.{name}"
        constants = [value.node for value in values if isinstance(value.node, ast.Constant)]
        if constants and len(constants) == len(values):
            return constants[-1].value
        if values and all(isinstance(value.node, ast.List) for value in values):
            return []
        if "communicator" in name:
            return Communicator(model.note, path)
        if "boundary" in name:
            return Boundary(model.note, path)
        kinds = reader.attribute_types(ref, name)
        if any(reader.is_logits_processor(kind) for kind in kinds):
            return self.logits
        for table, made in ((FUSED, Norm), (PASSING, PassingNorm)):
            if any(kind.key in table for kind in kinds):
                return made(model.note, path)
        built = [kind for kind in kinds if kind.module.name.startswith("sglang.srt.models")]
        built = [kind for kind in built if self.runs(kind, inside=model._layer is not None)]
        if built:
            reader.note_built(ref, (name,))
            return Model(self, built[0], path, model._layer)
        if model._layer is None and not built:
            layers = self.layer_classes(ref, name)
            if layers and not kinds:
                return [Model(self, layers[i % len(layers)], f"{path}.{i}", i) for i in range(N)]
        if kinds or any(called(value.node)[:1].isupper() for value in values):
            return Part(model.note, path)
        return Anything(path)

    def layer_classes(self, ref: ClassRef, name: str) -> list[ClassRef]:
        """The classes of a container's layers that take every keyword that the loop gives."""
        found = self.reader.element_classes(ref, name)
        inner = find_loop(self.reader, ref, ())
        return inner.loop.kinds if isinstance(inner, Inner) and inner.loop.layers == name else found

    def runs(self, ref: ClassRef, *, inside: bool) -> bool:
        """Whether a part runs as its source says: a model; inside a layer, only what gives several values."""
        forward = self.reader.index.method(ref, "forward")
        if forward is None or not forward.owner.module.name.startswith("sglang.srt.models"):
            return False
        if inside:
            returns = [item.value for item in ast.walk(forward.node) if isinstance(item, ast.Return)]
            return any(isinstance(value, ast.Tuple) for value in returns)
        return self.has_layers(ref)

    def has_layers(self, ref: ClassRef, depth: int = 0) -> bool:
        index = self.reader.index
        names = {name for member in index.mro(ref) for name in index.own_attributes(member)}
        kinds = {name: self.reader.attribute_types(ref, name) for name in names}
        if any(not found and self.reader.element_classes(ref, name) for name, found in kinds.items()):
            return True
        return depth < 3 and any(
            kind.module.name.startswith("sglang.srt.models") and kind != ref and self.has_layers(kind, depth + 1)
            for found in kinds.values()
            for kind in found
        )

    def run(self, model: Model, ids: list[int] | None) -> tuple[Any, Any, Any]:
        """``(hidden, head, states)`` as the logits processor gets them, with ``ids`` given to the setter."""
        if ids is not None:
            getattr(model, SETTER)(ids)
        method = self.reader.index.method(model._ref, "forward")
        assert method is not None
        given: dict[str, Any] = {"input_ids": Tensor(mix("tokens")), "positions": Anything("positions")}
        given["positions"].__dict__["shape"] = given["input_ids"].__dict__["shape"] = (4,)
        batch = Anything("forward_batch")
        batch.__dict__["residual"] = None
        given["forward_batch"] = batch
        spec = method.node.args
        names = [item.arg for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)][1:]
        required = names[: len(names) - len(spec.defaults)]
        self.notes.clear()
        self.logits.calls.clear()
        model(**{name: given.get(name) for name in names if name in given or name in required})
        (call,) = self.logits.calls
        return call


# the tests

VERSIONS = ["0.5.2", "0.5.4.post3", "0.5.9", "0.5.10", "0.5.13", "0.5.17", "0.5.20", "0.5.21", "0.5.23"]
IDS = [0, 2, N - 2]

# Release to state or shape to how many. A pinned release does not change, so these are exact.
MATRIX: dict[str, dict[str, int]] = {
    "0.5.2": {
        "absent": 26,
        "by_hand": 19,
        "classic": 26,
        "delegate": 11,
        "delegate+": 3,
        "methods": 4,
        "native": 11,
        "single": 13,
    },
    "0.5.4.post3": {
        "absent": 27,
        "by_hand": 21,
        "classic": 25,
        "delegate": 17,
        "delegate+": 5,
        "methods": 9,
        "native": 15,
        "single": 14,
    },
    "0.5.9": {
        "absent": 34,
        "by_hand": 24,
        "classic": 30,
        "delegate": 23,
        "delegate+": 7,
        "methods": 13,
        "native": 30,
        "single": 17,
    },
    "0.5.10": {
        "absent": 43,
        "by_hand": 29,
        "classic": 30,
        "delegate": 22,
        "delegate+": 7,
        "methods": 13,
        "native": 32,
        "single": 17,
    },
    "0.5.13": {
        "absent": 51,
        "by_hand": 32,
        "classic": 32,
        "delegate": 25,
        "delegate+": 8,
        "methods": 10,
        "native": 43,
        "single": 18,
    },
    "0.5.17": {
        "absent": 55,
        "by_hand": 47,
        "classic": 29,
        "delegate": 26,
        "delegate+": 7,
        "methods": 13,
        "native": 46,
        "single": 18,
    },
    "0.5.20": {
        "absent": 60,
        "by_hand": 55,
        "classic": 33,
        "delegate": 26,
        "delegate+": 9,
        "methods": 19,
        "native": 51,
        "single": 20,
    },
    "0.5.21": {
        "absent": 62,
        "by_hand": 51,
        "classic": 33,
        "delegate": 27,
        "delegate+": 11,
        "methods": 20,
        "native": 49,
        "single": 21,
        "stage": 8,
    },
    "0.5.23": {
        "absent": 64,
        "by_hand": 51,
        "classic": 29,
        "delegate": 29,
        "delegate+": 10,
        "methods": 18,
        "native": 54,
        "single": 21,
        "stage": 14,
    },
}


def check(root: Reader, view: Reader, name: str) -> None:
    """Run one patched architecture; an AssertionError says what is wrong."""
    plain, machine = Machine(root), Machine(view)
    wanted = plain.run(Model(plain, root.registered([name])[name], "it"), None)
    model = Model(machine, view.registered([name])[name], "it")
    off = machine.run(model, None)
    assert number(off[0]) == number(wanted[0]) and off[2] is None, "without ids nothing may change"
    hidden, head, states = machine.run(model, IDS)
    assert isinstance(hidden, Tensor) and number(hidden) == number(wanted[0]), "the hidden states changed"
    assert isinstance(states, list) and len(states) == len(IDS), f"{states!r} for {len(IDS)} ids"
    assert len(machine.notes) >= N, "the layers did not run"
    expected = [machine.notes[i + 1] for i in IDS]
    assert [number(item) for item in states] == expected, "not the input of the layer after each id"
    shared = getattr(model, GETTER)()
    assert str(shared[1]) == str(head.weight), "the head that a draft shares is not the one that gives logits"
    defaults = [2, N // 2, N - 3]
    model = Model(machine, view.registered([name])[name], "it")
    getattr(model, SETTER)()
    states = machine.run(model, None)[2]
    assert [number(item) for item in states] == [machine.notes[i] for i in sorted(defaults)][: len(states)]


def check_wrapper(view: Reader, name: str) -> bool:
    """Whether a wrapper passes on to the model that it holds; False when that is told by a config only."""
    machine = Machine(view)
    ref = view.registered([name])[name]
    method = view.index.method(ref, SETTER)
    assert method is not None
    (call,) = [node for node in ast.walk(method.node) if isinstance(node, ast.Call)]
    assert isinstance(call.func, ast.Attribute)
    model = Model(machine, ref, "it")
    inner = eval(ast.unparse(call.func.value), {"self": model})
    if not isinstance(inner, Model) or view.index.method(inner._ref, SETTER) is None:
        return False
    getattr(model, SETTER)(IDS)
    through = {key: value for key, value in inner.__dict__.items() if isinstance(value, bool)}
    assert True in through.values(), "the flag of the wrapped model is not set"
    one, other = getattr(model, GETTER)(), getattr(inner, GETTER)()
    assert [str(item) for item in one] == [str(item) for item in other]
    return True


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_called_patchable_is_native_once_patched(version: str) -> None:
    made = patched(version)
    counts = Counter(entry["shape"] or entry["state"] for entry in made.before.values())
    assert dict(counts) == MATRIX[version]
    names = sorted(made.before)
    with release_view(str(made.root), "sglang", made.contents) as view:
        after = survey(Path(view), names)
    for name, entry in made.before.items():
        wanted = "native" if entry["state"] == "patchable" else entry["state"]
        assert after[name]["state"] == wanted, (name, after[name]["reason"])
        assert after[name]["edits"] == []
        assert (entry["state"] == "patchable") == bool(entry["edits"])
        assert (entry["reason"] is None) == (entry["state"] in ("native", "patchable"))
        if entry["edits"]:
            assert planned(made.root, made.contents, entry["edits"]) == {}, name
    for name, data in made.contents.items():
        ast.parse(data, name)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_patched_forward_hands_out_what_the_next_layer_is_given(version: str) -> None:
    made = patched(version)
    wrong: dict[str, str] = {}
    passed = Counter[str]()
    with release_view(str(made.root), "sglang", made.contents) as view:
        root, changed = Reader(str(made.root)), Reader(view)
        for name, entry in made.before.items():
            if entry["state"] != "patchable":
                continue
            try:
                if entry["shape"].startswith("delegate"):
                    passed["wrapper" if check_wrapper(changed, name) else "told by a config"] += 1
                else:
                    check(root, changed, name)
                    passed[entry["shape"]] += 1
            except Exception as error:
                wrong[name] = f"{type(error).__name__}: {error}"
    assert wrong == {}
    assert passed["told by a config"] <= 3 and sum(passed.values()) > 50


# A patch that is wrong in one way: the architecture, and what becomes of its edits' text.
PLANTED = {
    "residual left out": ("0.5.9", "MixtralForCausalLM", "hidden_states + residual", "hidden_states.clone()"),
    "ids off by one": (
        "0.5.9",
        "MixtralForCausalLM",
        "if i in self.layers_to_capture",
        "if i + 1 in self.layers_to_capture",
    ),
    "setter does not shift": ("0.5.9", "MixtralForCausalLM", "[layer_id + 1 for", "[layer_id for"),
    "states not handed on": (
        "0.5.9",
        "MixtralForCausalLM",
        "aux_hidden_states=aux_hidden_states",
        "aux_hidden_states=None",
    ),
    "residual added twice": ("0.5.9", "Exaone4ForCausalLM", "hidden_states.clone()", "hidden_states + residual"),
    "single off by one": ("0.5.9", "Olmo2ForCausalLM", "if layer_id in", "if layer_id - 1 in"),
    "boundary ignored": (
        "0.5.23",
        "MixtralForCausalLM",
        "hidden_states, aux_hidden_state = self.layers[i].attn_boundary.capture_output(hidden_states, forward_batch)",
        "aux_hidden_state = hidden_states.clone()",
    ),
    "captured after instead of before": (
        "0.5.17",
        "KimiLinearForCausalLM",
        "list(layer_ids)",
        "[i + 1 for i in layer_ids]",
    ),
}


@pytest.mark.parametrize("version, name, right, false", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_wrong_patch_is_caught(version: str, name: str, right: str, false: str) -> None:
    tree = releases.tree("sglang", version)
    edits = survey(tree, [name])[name]["edits"]

    def spoiled(edit: Entry) -> Entry:
        return {key: value.replace(right, false) if key in TEXTS else value for key, value in edit.items()}

    wrong = [spoiled(edit) for edit in edits]
    assert wrong != edits
    for tried, caught in ((edits, False), (wrong, True)):
        with release_view(str(tree), "sglang", planned(tree, {}, tried)) as view:
            try:
                check(Reader(str(tree)), Reader(view), name)
            except (AssertionError, TypeError):
                assert caught
            else:
                assert not caught, "the wrong patch passed"


TEXTS = ("insert", "with", "method")
