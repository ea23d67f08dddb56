# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a decoder's own forward, taken from source, with stub layers and symbols in place of tensors.

A symbol knows how it was made, so two states are equal only when the same things were added in the same layers. What a
captured state must be is not asked of the code under test: the state after k layers is what the *unpatched* decoder's
final norm is given (with the residual it adds) when the decoder has only its first k layers; before any layer it is
what the first layer is given.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index

_NAMES: dict[Any, str] = {}


def _short(thing: Any) -> str:
    """One short name for each thing ever made, so that a state made of states stays small."""
    return _NAMES.setdefault(thing, f"s{len(_NAMES)}")


class Symbol:
    """A tensor as the sum of opaque terms."""

    def __init__(self, *terms: Any) -> None:
        self.terms = Counter(_short(term) for term in terms)

    @property
    def key(self) -> str:
        return _short(frozenset(self.terms.items()))

    def _made(self, how: str, other: Any) -> Symbol:
        return Symbol((how, self.key, other.key if isinstance(other, Symbol) else "?"))

    def __add__(self, other: Any) -> Symbol:
        if other is None:
            raise TypeError("a state and None cannot be added")
        if not isinstance(other, Symbol):
            return self._made("+", other)
        total = Symbol()
        total.terms = self.terms + other.terms
        return total

    __radd__ = __add__

    def __mul__(self, other: Any) -> Symbol:
        return self._made("*", other)

    __rmul__ = __truediv__ = __sub__ = __mul__

    def clone(self) -> Symbol:
        return self + Symbol()

    def __getitem__(self, place: Any) -> Symbol:
        return self._made("[]", None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("shape", "dtype", "device"):
            return Nothing(name)
        return lambda *args, **kwargs: self._made(name, None)

    def __iter__(self) -> Iterator[Symbol]:
        raise TypeError("one state is not two")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return "+".join(sorted(self.terms.elements()))


class Normed(Symbol):
    """What a norm returns that was given a residual: it can be taken apart, or used as one."""

    def __init__(self, total: Symbol) -> None:
        super().__init__(("norm", total.key))
        self.total = total

    def __iter__(self) -> Iterator[Symbol]:
        return iter((Symbol(("norm", self.total.key)), self.total))


class Nothing:
    """Anything of the engine that does not matter here: false, empty, callable, with any attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Nothing(self._name)

    def __getitem__(self, place: Any) -> Any:
        return Nothing(self._name)

    def __instancecheck__(self, other: object) -> bool:
        return isinstance(other, Symbol)

    def __float__(self) -> float:
        return 1.0

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return ()

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __contains__(self, item: object) -> bool:
        return False

    def __len__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Nothing)

    def __hash__(self) -> int:
        return hash(Nothing)

    def _same(self, *other: Any) -> Any:
        return Nothing(self._name)

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __floordiv__ = __or__ = __ror__ = _same
    __neg__ = __pow__ = __mod__ = __and__ = _same

    def __lt__(self, other: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__


class Layer:
    """One layer: gives fresh states that depend on its number and on every state it was given."""

    def __init__(self, number: int, results: int, log: list[Any]) -> None:
        self._number, self._results, self._log = number, results, log

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, Symbol)]
        self._log.append((self._number, given))
        made = [Symbol((name, self._number, tuple(one.key for one in given))) for name in ("hidden", "residual")]
        return made[0] if self._results == 1 else tuple(made)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return Nothing(name)


class Part:
    """A module of the decoder beside its layers, such as the final norm."""

    def __init__(self, name: str, log: list[Any]) -> None:
        self._name, self._log = name, log

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, Symbol)]
        if not given:
            return Symbol((self._name,))
        total = given[0] if len(given) == 1 else given[0] + given[1]
        self._log.append(total)
        if len(args) + len(kwargs) > 1:
            return Normed(total)
        return Symbol(("norm", total.key))

    def __float__(self) -> float:
        return 1.0

    def __getattr__(self, name: str) -> Any:
        return Nothing(name)


class Handover:
    """IntermediateTensors."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self.tensors = tensors

    def __getitem__(self, name: str) -> Any:
        return self.tensors[name]


class Rank:
    """The pipeline group."""

    def __init__(self, first: bool, last: bool) -> None:
        self.is_first_rank, self.is_last_rank = first, last
        self.world_size = 1 if first and last else 2


class Module:
    """torch.nn.Module: unknown attributes are parts; what is called is written down."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Part(name, self.__dict__.setdefault("log", []))


class Decoder:
    """A decoder class of a tree, built from its source and that of its bases."""

    def __init__(self, root: Path, path: str, name: str, layers: str, results: int) -> None:
        self.index = Index(str(root), ("vllm",))
        module = self.index.module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        assert module is not None, path
        found = self.index.resolve(module, name)
        assert found is not None, name
        self.layers, self.results = layers, results
        self.rank = Rank(True, True)
        self._built: dict[tuple[str, str], type] = {}
        self.cls = self._build(found)
        self.forward = next(base.__dict__["forward"] for base in self.cls.__mro__ if "forward" in base.__dict__)

    def _build(self, ref: ClassRef) -> type:
        if ref.key not in self._built:
            bases: list[type] = []
            for name, base in self.index.bases(ref):
                if base is not None and not _is_protocol(base):
                    bases.append(self._build(base))
                elif name.endswith("Module"):
                    bases.append(Module)
            self._built[ref.key] = self._execute(ref, bases)
        return self._built[ref.key]

    def _execute(self, ref: ClassRef, bases: list[type]) -> type:
        names = [f"base_{number}" for number in range(len(bases))]
        node = ast.ClassDef(
            name=ref.name,
            bases=[ast.Name(name, ast.Load()) for name in names],
            keywords=[],
            body=[_plain(item) for item in ref.node.body],
            decorator_list=[],
            type_params=[],
        )
        tree = ast.fix_missing_locations(ast.Module([node], []))
        flags = __future__.annotations.compiler_flag
        space: dict[str, Any] = {
            item.id: Nothing(item.id)
            for item in ast.walk(node)
            if isinstance(item, ast.Name) and not hasattr(builtins, item.id)
        }
        space.update(zip(names, bases, strict=True))
        space.update(
            get_pp_group=lambda: self.rank,
            get_pp_indices=lambda *args: (0, 0),
            model_parallel_is_initialized=lambda: False,
            IntermediateTensors=Handover,
            islice=itertools.islice,
        )
        exec(compile(tree, ref.module.path, "exec", flags), space)
        made: type = space[ref.name]
        return made

    def run(
        self, ids: tuple[int, ...], start: int, end: int, total: int, given: Any = None
    ) -> tuple[Any, list[Any], int]:
        """The result, every state given to a part, and how many of those came after the last layer."""
        log: list[Any] = []
        self.rank = Rank(start == 0, end == total)
        it: Any = object.__new__(self.cls)
        it.__dict__.update(log=log, start_layer=start, end_layer=end, training=False)
        if ids or not any("aux_hidden_state_layers" in base.__dict__ for base in self.cls.__mro__):
            it.__dict__["aux_hidden_state_layers"] = ids
        it.__dict__[self.layers] = [Layer(number, self.results, log) for number in range(total)]
        result = self.forward(it, **self._arguments(given))
        tail = list(itertools.takewhile(lambda item: isinstance(item, Symbol), reversed(log)))
        return result, log, len(tail)

    def _arguments(self, given: Any) -> dict[str, Any]:
        code = self.forward.__code__
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        known = {"inputs_embeds": Symbol(("embedding",)), "intermediate_tensors": given}
        return {name: known.get(name, Nothing(name)) for name in names}


def _is_protocol(ref: ClassRef) -> bool:
    """A class of the interfaces that does nothing in a forward."""
    return ref.module.name.endswith(".interfaces") and not any(
        isinstance(item, ast.FunctionDef) and "hidden_state" in item.name for item in ref.node.body
    )


def _plain(node: ast.stmt) -> ast.stmt:
    """A statement of a class body, without the values of fields that only the real engine can compute."""
    if isinstance(node, ast.FunctionDef) and node.name == "forward":
        node.decorator_list = []
    return node


def truth(decoder: Decoder, total: int) -> list[Symbol]:
    """The state after k layers for k = 0 .. total, by the unpatched decoder cut short."""
    _result, log, after = decoder.run((), 0, total, total)
    embedded = [given for number, given in (item for item in log if isinstance(item, tuple)) if number == 0]
    states = [embedded[0][0]]
    for count in range(1, total + 1):
        result, log, _after = decoder.run((), 0, count, count)
        states.append(log[-1] if after else result)
    assert all(isinstance(state, Symbol) for state in states)
    assert len(set(states)) == total + 1, "the trace does not tell the layers apart"
    return states


def upstream_mistakes(native: Decoder, total: int = 6) -> list[str]:
    """Where a decoder that captures by itself hands out another state than the trace says; ids 1 .. N-1."""
    expected = truth(native, total)
    wrong = []
    for ids in [(number,) for number in range(1, total)] + [tuple(range(1, total))]:
        result, _log, _after = native.run(ids, 0, total, total)
        wanted = [expected[number] for number in ids]
        if not isinstance(result, tuple) or list(result[1]) != wanted:
            wrong.append(f"ids {ids}: upstream hands out {result}, wanted {wanted}")
    return wrong


def mistakes(original: Decoder, changed: Decoder, total: int = 6, lowest: int = 0) -> list[str]:
    """What a patched decoder does wrong: ids from ``lowest`` on, values, the plain result, pipeline ranks."""
    expected = truth(original, total)
    plain, _log, _after = original.run((), 0, total, total)
    wrong: list[str] = []
    result, _log, _after = changed.run((), 0, total, total)
    if result != plain:
        wrong.append("without ids the result is another one")
    every = tuple(range(lowest, total + 1))
    for ids in [(number,) for number in every] + [every, (2, total // 2, total - 3), (1, total)]:
        wanted = [expected[number] for number in sorted(set(ids))]
        result, _log, _after = changed.run(ids, 0, total, total)
        if not isinstance(result, tuple) or len(result) != 2:
            wrong.append(f"ids {ids}: no second result")
        elif result[0] != plain:
            wrong.append(f"ids {ids}: the first result is another one")
        elif list(result[1]) != wanted:
            wrong.append(f"ids {ids}: got {result[1]}, wanted {wanted}")
    return wrong + _rank_mistakes(original, changed, expected, every)


def _rank_mistakes(original: Decoder, changed: Decoder, expected: list[Symbol], every: tuple[int, ...]) -> list[str]:
    """A rank hands on what it did before, and the last one captures what it can."""
    total = every[-1]
    cut = total // 2
    before, log, _after = original.run((), 0, cut, total)
    if not isinstance(before, Handover) or sum(isinstance(item, tuple) for item in log) != cut:
        return []
    wrong = []
    handed, _log, _after = changed.run(every, 0, cut, total)
    if not isinstance(handed, Handover) or handed.tensors != before.tensors:
        wrong.append("an earlier rank hands on something else")
    result, _log, _after = changed.run(every, cut, total, total, before)
    own = expected[cut:] if isinstance(result, tuple) and len(result[1]) == total + 1 - cut else expected[cut + 1 :]
    if not isinstance(result, tuple) or list(result[1]) != own:
        wrong.append(f"the last rank captured {result}")
    return wrong


__all__ = ("Decoder", "Symbol", "mistakes", "truth", "upstream_mistakes")
