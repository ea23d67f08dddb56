# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._release_view import release_view


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "site-packages"
    for path in (
        "vllm/__init__.py",
        "vllm/models/kimi.py",
        "vllm/models/llama.py",
        "vllm/far/__init__.py",
        "other/__init__.py",
        "one.py",
    ):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# {path}\n", encoding="utf-8")
    return folder


def read(folder: pathlib.Path | str) -> dict[str, str]:
    found = {}
    for place, _folders, files in os.walk(str(folder), followlinks=True):
        for name in files:
            path = pathlib.Path(place) / name
            found[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8")
    return found


CHANGED = {"vllm/models/kimi.py": b"# as released\n"}


@pytest.mark.parametrize("linked_folders", [True, False])
def test_chosen_files_read_differently_and_all_others_the_same(root: pathlib.Path, linked_folders: bool) -> None:
    before = read(root)
    with release_view(str(root), "vllm", CHANGED, linked_folders=linked_folders) as view:
        assert read(view) == {**before, "vllm/models/kimi.py": "# as released\n"}
    assert read(root) == before
    assert not os.path.exists(view)


def test_a_walk_that_follows_no_links_sees_all_of_the_package(root: pathlib.Path) -> None:
    with release_view(str(root), "vllm", CHANGED, linked_folders=False) as view:
        found = sorted(path.name for path in pathlib.Path(view, "vllm").rglob("*.py"))
    assert found == ["__init__.py", "__init__.py", "kimi.py", "llama.py"]


def test_a_file_that_was_deleted_is_there_again(root: pathlib.Path) -> None:
    with release_view(str(root), "vllm", {"vllm/gone.py": b"x = 1\n"}) as view:
        assert pathlib.Path(view, "vllm/gone.py").read_bytes() == b"x = 1\n"
    assert not (root / "vllm/gone.py").exists()


def test_without_other_contents_it_is_the_folder_itself(root: pathlib.Path) -> None:
    with release_view(str(root), "vllm", {}) as view:
        assert view == str(root)


def test_it_is_removed_when_the_reader_fails(root: pathlib.Path) -> None:
    with pytest.raises(ZeroDivisionError), release_view(str(root), "vllm", {"vllm/new.py": b""}) as view:
        raise ZeroDivisionError
    assert not os.path.exists(view)
    assert (root / "vllm/models/kimi.py").exists()
