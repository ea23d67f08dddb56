# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The use case of ``engine_arguments_info``."""

from __future__ import annotations

import difflib
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _arguments_read
from ansible_collections.specdec.blackwell.plugins.module_utils._arguments_pipeline import (
    BY_MODEL,
    REFUSED,
    UNSUPPORTED,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_survey import open_engine
from ansible_collections.specdec.blackwell.plugins.module_utils._target import call

Found = t.Dict[str, t.Any]
Flags = t.Mapping[str, t.Dict[str, t.Any]]


def info(params: t.Mapping[str, t.Any], *, check_mode: bool) -> Found:
    """Compare the wanted arguments with those that the installed engine defines; changes nothing."""
    engine = open_engine(params["engine"], params["python"], None)
    answer = call(engine.env, _arguments_read.run_request, {"engine": engine.name, "root": engine.package.root})
    flags: Flags = answer["flags"]
    pipeline = answer["pipeline"]
    found: dict[str, list[Found]] = {"unknown": [], "choices": [], "deprecated": []}
    for name, value in (params["arguments"] or {}).items():
        _judge(name, value, flags, engine.label(), found)
    return {
        "changed": False,
        "ok": not found["unknown"] and not found["choices"] and not any(item["fatal"] for item in found["deprecated"]),
        "engine": {**engine.said(), "name": engine.name},
        "known": sorted(flags),
        **found,
        "facts": {
            "release": engine.package.version,
            "has_pp_spec": {REFUSED: False, UNSUPPORTED: False}.get(pipeline["state"]),
            "pp_spec": pipeline,
            "pp_spec_by_model": pipeline["state"] == BY_MODEL,
        },
    }


def _judge(name: str, value: t.Any, flags: Flags, label: str, found: dict[str, list[Found]]) -> None:
    wanted = name.lstrip("-").replace("_", "-")
    outer, dot, inner = wanted.partition(".")
    flag = flags.get(outer)
    if flag is None and outer.startswith("no-") and flags.get(outer[3:], {}).get("boolean"):
        flag = flags[outer[3:]]
    if flag is None:
        found["unknown"].append(_unknown(name, outer, list(flags), label, "argument"))
        return
    if flag["deprecated"]:
        found["deprecated"].append(
            {"name": name, "message": flag["deprecated"], "fatal": flag["fatal"], "source": flag["source"]}
        )
    keys = flag["keys"]
    if dot and not inner.startswith("-"):
        _nested(name, [inner.split(".")[0].replace("-", "_")], keys, label, found)
    elif isinstance(value, dict):
        _nested(name, [str(key) for key in value], keys, label, found)
    else:
        _chosen(name, value, flag, found)


def _nested(name: str, wanted: list[str], keys: list[str] | None, label: str, found: dict[str, list[Found]]) -> None:
    if keys is None:
        return
    for key in wanted:
        if key not in keys:
            whole = name if name.partition(".")[2] else f"{name}.{key}"
            found["unknown"].append(_unknown(whole, key, keys, label, f"key of {name.partition('.')[0]}"))


def _unknown(name: str, spelled: str, known: list[str], label: str, what: str) -> Found:
    close = difflib.get_close_matches(spelled, known, n=3, cutoff=0.6)
    # An abbreviation resembles nothing.
    close = (close or sorted(item for item in known if item.startswith(spelled + "-")))[:3]
    hint = f"; the nearest that it has: {', '.join(close)}" if close else ""
    return {"name": name, "nearest": close, "message": f"{label} has no {what} named {spelled}{hint}"}


def _chosen(name: str, value: t.Any, flag: t.Mapping[str, t.Any], found: dict[str, list[Found]]) -> None:
    choices = flag["choices"]
    if choices is None or value is None:
        return
    allowed = {str(item) for item in choices}
    bad = [item for item in (value if isinstance(value, list) else [value]) if str(item) not in allowed]
    if bad:
        close = difflib.get_close_matches(str(bad[0]), sorted(allowed), n=3, cutoff=0.6)
        listed = ", ".join(sorted(allowed))
        message = f"{name} is {bad[0]}, and {flag['source']} takes only: {listed}"
        found["choices"].append(
            {"name": name, "value": bad[0], "choices": choices, "nearest": close, "message": message}
        )


__all__ = ("info",)
