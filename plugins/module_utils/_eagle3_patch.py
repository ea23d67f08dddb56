# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The use cases of ``eagle3_patch`` and ``eagle3_info``.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import base64
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_survey import (
    ABSENT,
    BY_HAND,
    PATCHED,
    SPECULATORS,
    Engine,
    Items,
    Survey,
    Wanted,
    open_engine,
    wanted,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Drift, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._patchset import (
    PatchRequest,
    PatchResult,
    apply,
    apply_all,
)

Params = t.Mapping[str, t.Any]
Result = t.Dict[str, t.Any]

_PROBE_SECONDS = 300
_QUIET = {"CUDA_VISIBLE_DEVICES": "", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}


def info(params: Params, *, check_mode: bool) -> Result:
    """What the engine's architectures are; never changes anything."""
    engine = open_engine(params["engine"], params["python"], params["ledger_dir"])
    items = Survey(engine, _wanted(params)).items()
    return {**engine.said(), "changed": False, "architectures": items, "warnings": engine.package.notes}


def patch(params: Params, *, check_mode: bool) -> Result:
    """Patch what is not supported, or take the patches back. Raises SpecdecError with nothing written."""
    asked = _wanted(params)
    if params["state"] == "absent":
        return _take_back(params, asked, check_mode)
    if asked.architectures is None and params["engine"] != SPECULATORS:
        raise BadInput("give 'model' or 'architectures': which model should take an EAGLE-3 draft?")
    try:
        engine = open_engine(params["engine"], params["python"], params["ledger_dir"])
    except SpecdecError as error:
        if not check_mode or error.details.get("installed") is not False:
            raise
        return _no_engine(params, f"engine would be installed first: {error.message}")
    survey = Survey(engine, asked)
    items = survey.items(without_patches=True)
    _refuse(engine, items)
    generated = {name: item["edits"] for name, item in survey.base.items() if item["edits"]}
    edits = _distinct(edit for own in generated.values() for edit in own)
    said = {**engine.said(), "generated_edits": edits}
    seen = {} if check_mode else survey.seen({edit["file"] for edit in edits if "file" in edit})
    requests = [_request(params, engine, name, own) for name, own in generated.items()]
    try:
        results = apply_all(requests, check_mode=check_mode)
    except SpecdecError as error:
        error.details.update(said, architectures=items)
        raise
    for name in generated:
        items[name]["state"] = PATCHED
    answer = {**_joined(results), **said, "architectures": items}
    answer["warnings"] = _distinct([*engine.package.notes, *answer["warnings"]])
    if not check_mode:
        answer["warnings"] += _retire(params, engine, [name for name in items if name not in generated])
        if answer["changed"]:
            answer["verified"] = _verify(params, engine, items, _former(results), list(generated))
        survey.remember(seen)
    return answer


def _no_engine(params: Params, message: str) -> Result:
    said = {"engine": params["engine"], "distribution": None, "version": None, "architectures": {}}
    return {**_joined([]), **said, "installed": False, "msg": message}


def _wanted(params: Params) -> Wanted:
    return wanted(params["engine"], params["model"], params["architectures"], last_layer=params["last_layer"])


def _refuse(engine: Engine, items: Items) -> None:
    """Raises Refused when an architecture is absent or cannot be derived."""
    reasons = [
        f"{name}: {item['reason'] or item['state']}"
        for name, item in items.items()
        if item["state"] in (ABSENT, BY_HAND)
    ]
    if reasons:
        raise Refused(
            f"{engine.label()} cannot be patched for {'; '.join(reasons)}. Nothing was written.",
            **engine.said(),
            architectures=items,
        )


def _name(engine: str, architecture: str) -> str:
    return f"eagle3-{engine}-{architecture}"


def _request(params: Params, engine: Engine, architecture: str, edits: list[t.Any] | None) -> PatchRequest:
    return PatchRequest(
        name=_name(engine.name, architecture),
        edits=edits,
        python=engine.env.python,
        package=engine.name,
        state="absent" if edits is None else "present",
        force=params["force"],
        follow=params["follow"],
        ledger_dir=params["ledger_dir"],
        reason=f"{architecture} is no EAGLE-3 target in this release of {engine.name}",
        drop_when="an upgrade makes it native; eagle3_patch then leaves it alone",
    )


def _distinct(edits: t.Iterable[t.Any]) -> list[t.Any]:
    kept: list[t.Any] = []
    for edit in edits:
        if edit not in kept:
            kept.append(edit)
    return kept


def _joined(results: t.Sequence[PatchResult]) -> Result:
    """Several patches as one result: of each file the first state before, and the last after."""
    files: dict[str, dict[str, t.Any]] = {}
    diffs: dict[str, dict[str, t.Any]] = {}
    for result in results:
        for item in result.files:
            first = files.setdefault(item["path"], dict(item))
            first["after_sha256"] = item["after_sha256"]
            first["changed"] = first["before_sha256"] != first["after_sha256"]
        for item in result.diff:
            shown = diffs.setdefault(item["after_header"], dict(item))
            shown["after"] = item["after"]
    return {
        "changed": any(item["changed"] for item in files.values()),
        "edits": [edit for result in results for edit in result.edits],
        "files": list(files.values()),
        "diff": [item for item in diffs.values() if item["before"] != item["after"]],
        "restart_needed": any(result.restart_needed for result in results),
        "older_processes": sorted({pid for result in results for pid in result.older_processes}),
        "caches_to_clear": _distinct(cache for result in results for cache in result.caches_to_clear),
        "warnings": _distinct(warning for result in results for warning in result.warnings),
    }


def _retire(params: Params, engine: Engine, architectures: t.Sequence[str]) -> list[str]:
    """The ledger forgets patches that an upgrade made superfluous. No byte of the engine changes."""
    said = []
    known = engine.patches() if architectures else []
    for name in architectures:
        request = _request(params, engine, name, None)
        if request.name in known and not apply(request, check_mode=True).changed:
            apply(request, check_mode=False)
            said.append(f"{request.name} retired: {engine.label()} supports {name} by itself")
    return said


def _take_back(params: Params, asked: Wanted, check_mode: bool) -> Result:
    try:
        engine = open_engine(params["engine"], params["python"], params["ledger_dir"])
    except SpecdecError as error:
        if error.details.get("installed") is not False:
            raise
        return _no_engine(params, f"nothing to take back: {error.message}")
    start = _name(engine.name, "")
    names = [name[len(start) :] for name in engine.patches() if name.startswith(start)]
    if asked.architectures is not None:
        names = [name for name in names if name in asked.architectures]
    results = apply_all([_request(params, engine, name, None) for name in names], check_mode=check_mode)
    items: Items = {}
    if asked.architectures is not None or engine.name == SPECULATORS:
        items = Survey(engine, asked).items(without_patches=check_mode)
    return {**_joined(results), **engine.said(), "architectures": items}


def _former(results: t.Sequence[PatchResult]) -> dict[str, bytes]:
    """The files of the patches as they were before the write, by path."""
    found: dict[str, bytes] = {}
    for result in results:
        for path, data in result.before.items():
            found.setdefault(path, data)
    return found


def _verify(
    params: Params, engine: Engine, items: Items, former: dict[str, bytes], architectures: list[str]
) -> dict[str, t.Any]:
    """Ask the engine's interpreter; take the patches back when they are why it fails. Raises Drift then."""
    targets = [
        {"module": _module(items[name]["file"]), "name": None if engine.name == SPECULATORS else name}
        for name in architectures
    ]
    targets += [{"module": _module(os.path.relpath(path, engine.package.root)), "name": None} for path in former]
    request = {"engine": engine.name, "compile": sorted(former), "targets": targets, "contents": {}}
    answer = _ask(engine, request)
    broken = answer["compiled"] is False or answer["supports_eagle3"] is False
    if not broken and answer["compiled"] and answer["imported"] is False:
        before = {path: base64.b64encode(data).decode("ascii") for path, data in former.items()}
        broken = _ask(engine, {**request, "contents": before})["imported"] is True
    if not broken:
        return answer
    forced = {**params, "force": True}
    apply_all([_request(forced, engine, name, None) for name in reversed(architectures)], check_mode=False)
    raise Drift(
        f"{engine.env.python} rejects the patched {engine.name}: {answer['reason']}. The patch was taken back, and the "
        "engine is without it.",
        **engine.said(),
        architectures=items,
        verified=answer,
    )


def _ask(engine: Engine, request: dict[str, t.Any]) -> dict[str, t.Any]:
    # Only after a write.
    from ansible_collections.specdec.blackwell.plugins.module_utils import _eagle3_probe
    from ansible_collections.specdec.blackwell.plugins.module_utils._target import run_child

    try:
        return run_child(engine.env, _eagle3_probe.run_request, request, timeout=_PROBE_SECONDS, variables=_QUIET)
    except SpecdecError as error:
        return {"compiled": None, "imported": False, "supports_eagle3": None, "reason": error.message}


def _module(file: str) -> str:
    parts = file[: -len(".py")].split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


__all__ = ("info", "patch")
