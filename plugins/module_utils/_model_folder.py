# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. A model's folder: its config.json, its shards, and the tensors that their headers name."""

from __future__ import annotations

import json
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._safetensors import Damaged, Tensor, read_header

Config = t.Dict[str, t.Any]
Finding = t.Dict[str, t.Any]

ERROR, WARNING, NOTE = "error", "warning", "note"
INDEX = "model.safetensors.index.json"
_JSON_LIMIT = 256 * 1024 * 1024
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".gguf")
_AGAIN = "fetch the file again, and compare its size with that of its source"


def finding(name: str, severity: str, found: t.Any, wanted: t.Any, fix: str) -> Finding:
    """What a check says. ``found`` and ``wanted`` are for a person to read; JSON-able."""
    return {"id": name, "severity": severity, "found": found, "wanted": wanted, "fix": fix}


class Folder:
    """A model's folder on this host. ``role`` (draft or target) is how findings name it.

    ``config`` is None, and ``tensors`` empty, where the files do not tell; ``findings`` then say why.
    """

    def __init__(self, path: str, role: str) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))
        self.role = role
        if not os.path.isdir(self.path):
            raise BadInput(f"there is no folder {self.path}; '{role}' is the folder of a model on this host")
        self.findings: list[Finding] = []
        self.tensors: dict[str, Tensor] = {}
        self.size = 0
        self.config = self._config()
        self._read_weights()

    def _say(self, name: str, severity: str, found: str, wanted: str, fix: str) -> None:
        self.findings.append(finding(name, severity, f"{self.role}: {found}", wanted, fix))

    def _json(self, name: str) -> t.Any:
        """The content of a JSON file. Raises OSError and ValueError."""
        path = os.path.join(self.path, name)
        if os.stat(path).st_size > _JSON_LIMIT:
            raise ValueError(f"more than {_JSON_LIMIT} bytes")
        with open(path, encoding="utf-8-sig") as stream:
            return json.load(stream)

    def _config(self) -> Config | None:
        try:
            config = self._json("config.json")
        except FileNotFoundError:
            self._say("config_missing", ERROR, f"no config.json in {self.path}", "config.json", _AGAIN)
            return None
        except (OSError, ValueError) as error:
            self._say("config_unreadable", ERROR, f"config.json: {error}", "a JSON object", _AGAIN)
            return None
        if not isinstance(config, dict):
            self._say("config_unreadable", ERROR, "config.json holds no object", "a JSON object", _AGAIN)
            return None
        return config

    def _read_weights(self) -> None:
        names = sorted(os.listdir(self.path))
        shards = [name for name in names if name.endswith(".safetensors")]
        promised = self._index() if os.path.lexists(os.path.join(self.path, INDEX)) else None
        if promised is not None:
            shards = sorted(set(promised.values()))
        elif not shards:
            self._no_safetensors([name for name in names if name.endswith(_OTHER_WEIGHTS)])
            return
        whole = [name for name in shards if self._shard(name)]
        for name, shard in sorted((promised or {}).items()):
            if shard in whole and (name not in self.tensors or self.tensors[name].path != self._path(shard)):
                self._say(
                    "tensor_missing",
                    ERROR,
                    f"{INDEX} puts {name} into {shard}, which does not have it",
                    f"{name} in {shard}",
                    "fetch index and shards from the same revision",
                )
                return

    def _no_safetensors(self, others: list[str]) -> None:
        if others:
            self.size = sum(os.stat(self._path(name)).st_size for name in others)
            self._say(
                "weights_unread",
                NOTE,
                f"weights in {', '.join(others)}",
                "safetensors, whose headers can be read",
                "convert the weights to safetensors to have shapes and d2t checked",
            )
            return
        severity = ERROR if self.role == "draft" else WARNING
        self._say("weights_missing", severity, f"no weights in {self.path}", "weights", _AGAIN)

    def _path(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _index(self) -> dict[str, str] | None:
        said = None
        try:
            index = self._json(INDEX)
            weights = index.get("weight_map") if isinstance(index, dict) else None
            if isinstance(weights, dict) and weights and all(_is_name(name) for name in weights.values()):
                return weights
            said = "it has no weight_map of plain file names"
        except (OSError, ValueError) as error:
            said = str(error)
        self._say("index_broken", ERROR, f"{INDEX}: {said}", "a weight_map from tensors to shards", _AGAIN)
        return None

    def _shard(self, name: str) -> bool:
        path = self._path(name)
        try:
            self.tensors.update(read_header(path))
            self.size += os.stat(path).st_size
        except FileNotFoundError:
            where = os.readlink(path) if os.path.islink(path) else None
            found = f"no {name}" if where is None else f"{name} is a link to {where}, which is gone"
            self._say("shard_missing", ERROR, found, name, _AGAIN)
        except OSError as error:
            self._say("shard_unreadable", ERROR, f"{name}: {error.strerror}", "a readable file", "see its owner")
        except Damaged as error:
            kind = "shard_truncated" if error.details["truncated"] else "shard_damaged"
            fix = "run git lfs pull in the clone" if error.details.get("pointer") else _AGAIN
            self._say(kind, ERROR, f"{name}: {error.message}", "a whole safetensors file", fix)
        else:
            return True
        return False

    @property
    def whole(self) -> bool:
        """Whether the headers of all weights could be read, so that a tensor that is not there is missing."""
        return bool(self.tensors) and not any(item["severity"] == ERROR for item in self.findings)


def _is_name(name: t.Any) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and os.path.basename(name) == name


__all__ = ("Config", "ERROR", "Finding", "Folder", "INDEX", "NOTE", "WARNING", "finding")
