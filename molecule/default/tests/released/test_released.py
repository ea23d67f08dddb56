# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environments hold the release, byte for byte, and a draft is refused."""

from __future__ import annotations

import base64
import hashlib
from typing import Any


def recorded(record: str) -> dict[str, str]:
    """Path -> hex digest, from the text of a RECORD."""
    found = {}
    for line in record.splitlines():
        path, digest, _size = line.rsplit(",", 2)
        if digest:
            method, _mark, value = digest.partition("=")
            assert method == "sha256"
            found[path] = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    return found


def test_every_file_has_the_digest_in_record(files: Any, engine: Any) -> None:
    (record,) = engine.tree.glob("*.dist-info/RECORD")
    wanted = recorded(record.read_text())
    found = files(engine.site_packages)
    assert len(wanted) > 40
    assert {path: digest for path, (digest, _links) in found.items() if path in wanted} == wanted


def test_record_is_the_release_s(files: Any, engine: Any) -> None:
    (record,) = engine.tree.glob("*.dist-info/RECORD")
    digest, _links = files(engine.site_packages)[str(record.relative_to(engine.tree))]
    assert digest == hashlib.sha256(record.read_bytes()).hexdigest()


def test_no_other_file_is_there(files: Any, engines: Any) -> None:
    for venv in {engine.venv for engine in engines}:
        here = [engine for engine in engines if engine.venv == venv]
        released = {
            str(path.relative_to(engine.tree)) for engine in here for path in engine.tree.rglob("*") if path.is_file()
        }
        assert set(files(here[0].site_packages)) == released


def test_vllm_refuses_the_draft(inside: Any, engines: Any) -> None:
    found = inside("vllm_target.py", engines[0].site_packages)
    assert found == {
        "text is an EAGLE-3 target": False,
        "wrapper is an EAGLE-3 target": False,
        "default layers": None,
        "forward": ["final", 61005],
        "model type is let through": False,
        "image token": "'types.SimpleNamespace' object has no attribute 'image_token_index'",
    }


def test_speculators_takes_the_decoder_only(inside: Any, engines: Any) -> None:
    assert inside("speculators_target.py", engines[1].site_packages) == {
        "decoder with the interface": ["model"],
        "wrapper with the interface": "AttributeError",
        "wrapper without the interface": "ValueError",
        "wrapper around the layers": "ValueError",
        "decoder without the interface": "ValueError",
        "neither": "ValueError",
    }


def test_sglang_lacks_the_methods(inside: Any, engines: Any) -> None:
    assert inside("sglang_target.py", engines[2].site_packages) == {"methods": []}
