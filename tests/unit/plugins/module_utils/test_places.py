# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._places import Gone, make_folders, open_place
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import in_child

NOBODY, SOMEBODY = 65534, 12345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play several users")


@pytest.fixture
def shared() -> t.Iterator[pathlib.Path]:
    """A folder that other users can reach, which pytest's own is not."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="specdec-tests-"))
    place.chmod(0o755)
    yield place.resolve()
    shutil.rmtree(place)


def put(path: pathlib.Path, text: str = "x") -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def own(path: pathlib.Path, uid: int) -> None:
    os.chown(path, uid, uid, follow_symlinks=False)


def test_a_plain_file(tmp_path: pathlib.Path) -> None:
    put(tmp_path / "a" / "b.py", "text")
    with open_place(str(tmp_path / "a" / "." / ".." / "a" / "b.py")) as place:
        assert (place.path, place.links, place.read()) == (str(tmp_path / "a" / "b.py"), [], b"text")


def test_a_missing_file_has_a_place(tmp_path: pathlib.Path) -> None:
    with open_place(str(tmp_path / "new.py")) as place:
        assert place.name == "new.py"
        with pytest.raises(Gone):
            place.read()


def test_a_missing_folder_is_gone(tmp_path: pathlib.Path) -> None:
    with pytest.raises(Gone, match="does not exist"):
        open_place(str(tmp_path / "a" / "b.py"))


@pytest.mark.parametrize("absolute", [True, False])
def test_links_are_walked_and_reported(tmp_path: pathlib.Path, absolute: bool) -> None:
    target = put(tmp_path / "real" / "deep" / "b.py", "text")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pkg").symlink_to(tmp_path / "real" if absolute else "../real")
    (tmp_path / "real" / "c.py").symlink_to("deep/../deep/./b.py")
    with open_place(str(tmp_path / "root" / "pkg" / "c.py"), below=str(tmp_path / "root")) as place:
        assert place.path == str(target)
        assert len(place.links) == 2
        assert place.read() == b"text"


@pytest.mark.parametrize("where", ["file", "package", "root"])
def test_without_follow_a_link_is_refused(tmp_path: pathlib.Path, where: str) -> None:
    put(tmp_path / "real" / "pkg" / "a.py")
    if where == "root":
        (tmp_path / "site").symlink_to("real")
    else:
        (tmp_path / "site" / "pkg").mkdir(parents=True)
    if where == "package":
        (tmp_path / "site" / "pkg").rmdir()
        (tmp_path / "site" / "pkg").symlink_to(tmp_path / "real" / "pkg")
    if where == "file":
        (tmp_path / "site" / "pkg" / "a.py").symlink_to(tmp_path / "real" / "pkg" / "a.py")
    with pytest.raises(Refused, match="symbolic link.*'follow' is false"):
        open_place(str(tmp_path / "site" / "pkg" / "a.py"), below=str(tmp_path / "site"), follow=False)


def test_a_link_above_the_root_is_the_admins_business(tmp_path: pathlib.Path) -> None:
    put(tmp_path / "engine-1.0" / "site" / "a.py")
    (tmp_path / "engine").symlink_to("engine-1.0")
    with open_place(
        str(tmp_path / "engine" / "site" / "a.py"), below=str(tmp_path / "engine" / "site"), follow=False
    ) as place:
        assert place.links == []
        assert place.path == str(tmp_path / "engine-1.0" / "site" / "a.py")


def test_links_in_a_circle(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(Refused, match="links go in a circle"):
        open_place(str(tmp_path / "a"))


def test_a_dangling_link_is_gone(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.py").symlink_to("nowhere/b.py")
    with pytest.raises(Gone):
        open_place(str(tmp_path / "a.py"))


def test_a_fifo_does_not_hang(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    with open_place(str(tmp_path / "a.py")) as place, pytest.raises(BadInput, match="not a regular file"):
        place.read()


def test_a_file_in_the_way(tmp_path: pathlib.Path) -> None:
    put(tmp_path / "a.py")
    with pytest.raises(BadInput, match="not a directory"):
        open_place(str(tmp_path / "a.py" / "b.py"))


def test_nul_in_a_path() -> None:
    with pytest.raises(BadInput, match="NUL"):
        open_place("/tmp/a\0b")


def test_no_handles_are_left_open(tmp_path: pathlib.Path) -> None:
    put(tmp_path / "a.py")
    before = len(os.listdir("/proc/self/fd"))
    for path in ("a.py", "x/y", "a.py/b"):
        with contextlib.suppress(SpecdecError):
            open_place(str(tmp_path / path)).close()
    assert len(os.listdir("/proc/self/fd")) == before


@needs_root
def test_a_link_planted_by_a_user_does_not_lead_root_out(shared: pathlib.Path) -> None:
    secret = put(shared / "etc" / "secret.py")
    (shared / "venv" / "pkg").mkdir(parents=True)
    for path in ("venv", "venv/pkg"):
        own(shared / path, NOBODY)
    (shared / "venv" / "pkg" / "a.py").symlink_to(secret)
    own(shared / "venv" / "pkg" / "a.py", NOBODY)
    with pytest.raises(Refused, match="could have been put there by another user.*become_user: nobody"):
        open_place(str(shared / "venv" / "pkg" / "a.py"))


@needs_root
@pytest.mark.parametrize("owner", [0, SOMEBODY])
def test_a_planted_directory_link_does_not_lead_root_out(shared: pathlib.Path, owner: int) -> None:
    put(shared / "other" / "a.py")
    for path in ("other", "other/a.py"):
        own(shared / path, owner)
    (shared / "venv").mkdir()
    own(shared / "venv", NOBODY)
    (shared / "venv" / "pkg").symlink_to(shared / "other")
    # Even a link of root's counts as planted there, for a user can move one in.
    with pytest.raises(Refused, match="could have been put there by another user"):
        open_place(str(shared / "venv" / "pkg" / "a.py"))


@needs_root
def test_a_users_link_to_what_is_that_users_is_fine(shared: pathlib.Path) -> None:
    put(shared / "venv" / "lib" / "a.py")
    (shared / "venv" / "lib64").symlink_to("lib")
    for path in ("venv", "venv/lib", "venv/lib/a.py", "venv/lib64"):
        own(shared / path, NOBODY)
    with open_place(str(shared / "venv" / "lib64" / "a.py")) as place:
        assert place.path == str(shared / "venv" / "lib" / "a.py")


@needs_root
def test_a_link_in_a_folder_open_to_all_is_judged_by_its_owner(shared: pathlib.Path) -> None:
    secret = put(shared / "secret.py")
    (shared / "open").mkdir()
    (shared / "open").chmod(0o777)
    (shared / "open" / "a.py").symlink_to(secret)
    own(shared / "open" / "a.py", NOBODY)
    with pytest.raises(Refused):
        open_place(str(shared / "open" / "a.py"))
    # In a sticky one only the owner can have made it.
    (shared / "open").chmod(0o1777)
    with pytest.raises(Refused):
        open_place(str(shared / "open" / "a.py"))
    own(shared / "open" / "a.py", 0)
    open_place(str(shared / "open" / "a.py")).close()


@needs_root
def test_swapping_a_folder_for_a_link_never_wins(shared: pathlib.Path) -> None:
    """A user swaps a directory of the path for a link to root's as fast as possible; root never gets there."""
    put(shared / "root" / "a.py", "root's")
    put(shared / "venv" / "pkg" / "a.py", "user's")
    for path in ("venv", "venv/pkg", "venv/pkg/a.py"):
        own(shared / path, NOBODY)

    def swap() -> None:
        os.chdir(shared / "venv")
        os.symlink(shared / "root", "link")
        while True:
            os.rename("pkg", "kept")
            os.rename("link", "pkg")
            os.rename("pkg", "link")
            os.rename("kept", "pkg")

    child = os.fork()
    if child == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            swap()
        finally:
            os._exit(1)
    outcomes: dict[str, int] = {}
    try:
        for _attempt in range(3000):
            try:
                with open_place(str(shared / "venv" / "pkg" / "a.py")) as place:
                    outcome = place.read().decode()
            except SpecdecError as error:
                outcome = type(error).__name__
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert set(outcomes) <= {"user's", "Refused", "Gone", "BadInput"}
    # The attack was on: otherwise this would say nothing.
    assert outcomes.get("user's") and sum(outcomes.values()) > outcomes["user's"]


@needs_root
def test_folders_made_by_root_belong_to_the_one_above(shared: pathlib.Path) -> None:
    (shared / "venv").mkdir()
    own(shared / "venv", NOBODY)
    make_folders(str(shared / "venv" / "a" / "b"))
    assert [os.stat(shared / "venv" / path).st_uid for path in ("a", "a/b")] == [NOBODY, NOBODY]


@needs_root
def test_no_permission_says_whose_it_is(shared: pathlib.Path) -> None:
    (shared / "closed").mkdir(mode=0o700)
    put(shared / "closed" / "a.py")

    def read() -> None:
        with pytest.raises(SpecdecError, match="nobody has no permission.*become"):
            open_place(str(shared / "closed" / "a.py"))

    assert in_child(read, uid=NOBODY) == 0
