# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask an engine's own interpreter whether its patched files compile, import and count as an EAGLE-3 target.

Runs as a child of that interpreter, with its site-packages, because it imports the engine.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import base64
import importlib
import importlib.machinery
import os
import sys
import traceback
import typing as t
import warnings

Payload = t.Dict[str, t.Any]


class _OtherBytes:
    """A finder that gives chosen files other contents than they have on disk, to import what was there before."""

    def __init__(self, contents: t.Mapping[str, bytes]) -> None:
        self._contents = {os.path.realpath(path): data for path, data in contents.items()}

    def find_spec(
        self, name: str, path: t.Sequence[str] | None = None, target: t.Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None:
            return None
        data = self._contents.get(os.path.realpath(spec.origin))
        if data is None:
            return None
        spec.loader = _OtherLoader(name, spec.origin, data)
        return spec


class _OtherLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, data: bytes) -> None:
        super().__init__(name, path)
        self._data = data

    def get_code(self, fullname: str) -> t.Any:
        return self.source_to_code(self._data, self.get_filename(fullname))


def run_request(request: Payload) -> Payload:
    """Compile ``compile``, import the modules of ``targets``, and ask the engine about their classes.

    request = {"compile": [path...], "engine": name, "targets": [{"module": dotted, "name": class or null}...],
    "contents": {path: base64}}; the contents stand in for those on disk.
    response = {"compiled": bool, "imported": bool, "supports_eagle3": bool or null, "reason": text or null}.
    """
    warnings.simplefilter("ignore")
    answer: Payload = {"compiled": False, "imported": False, "supports_eagle3": None, "reason": None}
    for path in request["compile"]:
        with open(path, "rb") as stream:
            data = stream.read()
        try:
            compile(data, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            answer["reason"] = f"{path} does not compile: {error}"
            return answer
    answer["compiled"] = True
    contents = {path: base64.b64decode(data) for path, data in request["contents"].items()}
    if contents:
        finder: t.Any = _OtherBytes(contents)
        sys.meta_path.insert(0, finder)
    try:
        modules = [(importlib.import_module(target["module"]), target["name"]) for target in request["targets"]]
    except BaseException as error:  # an engine may well call sys.exit() where it finds no device
        answer["reason"] = _last_words(error)
        return answer
    answer["imported"] = True
    named = [(module, name) for module, name in modules if name is not None]
    if not named:
        return answer
    try:
        find, supports = _ASK[request["engine"]]
        refused = sorted(name for module, name in named if not supports(find(module, name)))
    except BaseException as error:
        answer["reason"] = _last_words(error)
        return answer
    answer["supports_eagle3"] = not refused
    if refused:
        answer["reason"] = "the engine does not take these as EAGLE-3 targets: " + ", ".join(refused)
    return answer


def _vllm_class(module: t.Any, name: str) -> t.Any:
    if hasattr(module, name):
        return getattr(module, name)
    registry: t.Any = importlib.import_module("vllm.model_executor.models.registry")
    return registry.ModelRegistry.models[name].load_model_cls()


def _vllm_supports(model: t.Any) -> bool:
    interfaces = importlib.import_module("vllm.model_executor.models.interfaces")
    return bool(interfaces.supports_eagle3(model))


def _sglang_supports(model: t.Any) -> bool:
    return callable(getattr(model, "set_eagle3_layers_to_capture", None))


# How each engine finds a class by its architecture, and how it tells a target.
_ASK: dict[str, tuple[t.Callable[[t.Any, str], t.Any], t.Callable[[t.Any], bool]]] = {
    "vllm": (_vllm_class, _vllm_supports),
    "sglang": (getattr, _sglang_supports),
}


def _last_words(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


__all__ = ("run_request",)
