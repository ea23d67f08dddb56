# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an installed engine says about EAGLE-3, read as the release has it and as it is now.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _memory
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_memory import Tree
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import Ledger
from ansible_collections.specdec.blackwell.plugins.module_utils._locks import hold
from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import (
    Environment,
    NotInstalled,
    Package,
    find_package,
    probe,
    record_digest_matches,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, default_folder, open_store, sha256

Item = t.Dict[str, t.Any]
Items = t.Dict[str, Item]

NATIVE, PATCHED, PATCHABLE, BY_HAND, ABSENT = "native", "patched", "patchable", "by_hand", "absent"
SPECULATORS = "speculators"


class Engine:
    """An engine in its environment, and where the ledger of that environment is."""

    def __init__(self, name: str, env: Environment, package: Package, ledger: str) -> None:
        self.name = name
        self.env = env
        self.package = package
        self.ledger = ledger

    def label(self) -> str:
        return f"{self.package.distribution or self.name} {self.package.version or ''}".strip()

    def said(self) -> Item:
        return {"engine": self.name, "distribution": self.package.distribution, "version": self.package.version}

    def patches(self) -> list[str]:
        """Names of the patches that the ledger has on this engine, the last applied first."""
        store = open_store(self.ledger, create=False)
        if store is None:
            return []
        with store:
            ledger = Ledger.load(store)
            target = {"package": self.name, "prefix": os.path.realpath(self.env.prefix)}
            records = [record for record in ledger.patches.values() if record.target == target]
            return [record.name for record in sorted(records, key=lambda record: -record.sequence)]


class Wanted(t.NamedTuple):
    """Architectures to look at, None for all of the registry, and the model's parsed config.json if it was given."""

    architectures: list[str] | None
    model_config: dict[str, t.Any] | None
    last_layer: bool


def open_engine(name: str, python: str | None, ledger_dir: str | None) -> Engine:
    """Finds the engine. Raises SpecdecError, with the detail ``installed: false`` when there is none yet."""
    try:
        env = probe(python)
        package = find_package(env, name)
    except NotInstalled as error:
        error.details["installed"] = False
        raise
    except BadInput as error:
        if python is not None and not os.path.lexists(os.path.expanduser(python)):
            error.details["installed"] = False
        raise
    folder = default_folder(env) if ledger_dir is None else os.path.abspath(os.path.expanduser(ledger_dir))
    return Engine(name, env, package, folder)


def wanted(engine: str, model: str | None, architectures: t.Sequence[str] | None, *, last_layer: bool) -> Wanted:
    """What the task asks about. Raises BadInput on a model folder that does not say."""
    if engine == SPECULATORS:
        if model is not None or architectures:
            raise BadInput("engine: speculators takes neither 'model' nor 'architectures'; it has only custom_worker")
        return Wanted(None, None, last_layer)
    if model is None:
        return Wanted(list(dict.fromkeys(architectures)) if architectures else None, None, last_layer)
    config = _config(model)
    names = config.get("architectures")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise BadInput(f"{model}/config.json names no architectures; give 'architectures', not 'model'", model=model)
    return Wanted(list(dict.fromkeys(names)), config, last_layer)


def _config(model: str) -> dict[str, t.Any]:
    path = os.path.join(model, "config.json")
    try:
        with open(path, encoding="utf-8-sig") as stream:
            config = json.load(stream)
    except OSError as error:
        hint = "" if os.path.isdir(model) else " ('model' is the folder of a model on this host)"
        raise BadInput(f"cannot read {path}: {error.strerror}{hint}", model=model) from error
    except ValueError as error:
        raise BadInput(f"{path} is no JSON: {error}", model=model) from error
    if not isinstance(config, dict):
        raise BadInput(f"{path} is no model's configuration: it holds no object", model=model)
    return config


class Survey:
    """``base``: what the release has, this collection's own patches taken away. ``now``: what is there."""

    def __init__(self, engine: Engine, asked: Wanted) -> None:
        package = engine.package
        self._engine = engine
        self._request = {
            "engine": engine.name,
            "architectures": asked.architectures,
            "model_config": asked.model_config,
            "last_layer": asked.last_layer,
            "distribution": package.distribution,
            "version": package.version,
            "others": _others(engine),
        }
        self._contents, memory = _release_contents(engine)
        self._tree = Tree(package.root, engine.name)
        remembered = memory.recall("derived", self._key(_digests(self._contents)))
        self._remembered = _are_items(remembered)
        self.base: Items = remembered if self._remembered else self._derive_base()

    @functools.cached_property
    def now(self) -> Items:
        return self._derive(self._engine.package.root) if self._contents else self.base

    def _key(self, release: dict[str, str]) -> str | None:
        return self._tree.key(self._engine.env.version, self._request, release)

    def seen(self, files: t.Iterable[str]) -> dict[str, str]:
        """Those of ``files`` of which it is certain which bytes ``base`` follows from, with their sha256."""
        if self._remembered:
            return {}
        return {**self._tree.seen(files), **_digests(self._contents)}

    def remember(self, seen: t.Mapping[str, str]) -> None:
        """Notes ``base`` for the next run. What was written meanwhile is in ``seen``, as it was before."""
        store = None if self._remembered else open_store(self._engine.ledger, create=False)
        if store is None:
            return
        asked = _memory.digest([self._request, os.path.realpath(self._engine.env.prefix)])
        with contextlib.suppress(SpecdecError, OSError), store, hold(store, "a derived answer", wait=0):
            contents, memory = _known_to(self._engine, store)
            release = _digests(contents)
            rest = [file for file in self._tree.files if file not in release]
            sure = set(self._contents) <= set(release) and all(seen.get(file) == sha for file, sha in release.items())
            key = self._key(release)
            if contents and sure and key is not None and self._tree.is_quiet(rest):
                memory.note("derived", asked, key, self.base)
                memory.save(store)

    def _derive_base(self) -> Items:
        # An unchanged host has an answer already.
        from ansible_collections.specdec.blackwell.plugins.module_utils._release_view import release_view

        package = self._engine.package
        flat = self._engine.name != SPECULATORS
        with release_view(package.root, package.name, self._contents, linked_folders=flat) as root:
            return self._derive(root)

    def _derive(self, root: str) -> Items:
        from ansible_collections.specdec.blackwell.plugins.module_utils._target import call

        answer = call(self._engine.env, derive.run_request, {**self._request, "root": root})
        error = answer.get("error")
        if error:
            details = {key: value for key, value in error.items() if key not in ("message", "kind")}
            raise SpecdecError(str(error["message"]), **details)
        items: Items = answer["architectures"]
        return items

    def items(self, *, without_patches: bool = False) -> Items:
        """The public answer by architecture; ``without_patches``: as if this collection had made none."""
        now = self.base if without_patches else self.now
        return {name: self._judged(item, now.get(name, item)) for name, item in self.base.items()}

    def _judged(self, base: Item, now: Item) -> Item:
        item = {key: value for key, value in base.items() if key != "edits"}
        if base["state"] == PATCHABLE and now["state"] == NATIVE:
            item["state"] = PATCHED
        elif base["state"] == NATIVE and base["file"]:
            released = self._is_release(base["file"])
            if released is False:
                item["state"] = PATCHED
                item["reason"] = f"{base['file']} is not the release's own: somebody else patched it"
            elif released is None:
                note = f"RECORD does not tell whether {base['file']} is the release's own"
                item["notes"] = [*base["notes"], note]
        return item

    def _is_release(self, file: str) -> bool | None:
        package = self._engine.package
        try:
            with open(os.path.join(package.root, *file.split("/")), "rb") as stream:
                return record_digest_matches(package, file, stream.read())
        except OSError:
            return None


def _others(engine: Engine) -> dict[str, str | None]:
    """Versions of the other engines in the same environment."""
    found: dict[str, str | None] = {}
    for name in derive.ENGINES:
        if name != engine.name:
            try:
                found[name] = find_package(engine.env, name).version
            except SpecdecError:
                continue
    return found


def _release_contents(engine: Engine) -> tuple[dict[str, bytes], _memory.Memory]:
    """The release's bytes of the files that this collection has changed, by their path as RECORD has it."""
    store = open_store(engine.ledger, create=False)
    if store is None:
        return {}, _memory.Memory()
    with store:
        return _known_to(engine, store)


def _known_to(engine: Engine, store: Store) -> tuple[dict[str, bytes], _memory.Memory]:
    ledger = Ledger.load(store)
    contents = {
        file: data
        for path, entry in ledger.files.items()
        for file, data in _original(engine.package, store, path, entry.base, entry.current)
    }
    return contents, _memory.Memory.load(store)


def _digests(contents: t.Mapping[str, bytes]) -> dict[str, str]:
    return {file: sha256(data) for file, data in contents.items()}


def _are_items(answer: t.Any) -> bool:
    """Whether a remembered answer has the form of ``derive``'s."""
    return isinstance(answer, dict) and all(
        isinstance(item, dict) and isinstance(item.get("state"), str) and isinstance(item.get("edits"), list)
        for item in answer.values()
    )


def _original(package: Package, store: Store, path: str, base: str, current: str) -> t.Iterator[tuple[str, bytes]]:
    directory = os.path.realpath(package.directory)
    if not path.startswith(directory + os.sep):
        return
    file = "/".join([package.name, *os.path.relpath(path, directory).split(os.sep)])
    try:
        data = store.original(base)
        with open(path, "rb") as stream:
            now = stream.read()
    except (OSError, SpecdecError):
        return
    # Another release may have come in the meantime; then what is there is the release.
    released = record_digest_matches(package, file, data)
    if now != data and (released or (released is None and sha256(now) == current)):
        yield file, data


__all__ = (
    "ABSENT",
    "BY_HAND",
    "NATIVE",
    "PATCHABLE",
    "PATCHED",
    "SPECULATORS",
    "Engine",
    "Item",
    "Items",
    "Survey",
    "Wanted",
    "open_engine",
    "wanted",
)
