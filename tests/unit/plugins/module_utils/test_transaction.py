# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import errno
import fcntl
import importlib.util
import json
import os
import pathlib
import py_compile
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _locks
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._journal import JOURNAL, open_journal
from ansible_collections.specdec.blackwell.plugins.module_utils._places import open_place
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, open_store
from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import (
    Transaction,
    obstacles,
    pending,
    recover,
)
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import in_child, sha, snapshot

NOBODY, SOMEBODY = 65534, 12345
OLD, NEW = b"old = 1\n", b"new = 1\n"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play several users, mount, or set flags")


class Site:
    """A folder of files with a ledger beside it."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.pkg = root / "site" / "pkg"
        self.pkg.mkdir(parents=True)
        self.ledger = root / "ledger"

    def put(self, *names: str, data: bytes = OLD) -> list[pathlib.Path]:
        paths = [self.pkg / name for name in names]
        for path in paths:
            path.write_bytes(data)
        return paths

    def write(self, paths: t.Sequence[pathlib.Path], data: bytes = NEW) -> Transaction:
        """One run: lock, recover, write all."""
        places = [open_place(str(path)) for path in paths]
        try:
            store = open_store(str(self.ledger), create=True)
            assert store is not None
            with store, _locks.hold(store, "a test"):
                recover(store)
                transaction = Transaction(store, "a test")
                for place in places:
                    transaction.write(place, data, sha(place.read()))
                with store.place("ledger.json") as ledger:
                    now = store.read("ledger.json")
                    transaction.write(ledger, b"ledger of " + data, None if now is None else sha(now))
                    transaction.commit()
        finally:
            for place in places:
                place.close()
        return transaction

    def check(self, paths: t.Sequence[pathlib.Path]) -> SpecdecError | None:
        places = [open_place(str(path)) for path in paths]
        try:
            return obstacles(str(self.ledger), places)
        finally:
            for place in places:
                place.close()

    def recover(self) -> str | None:
        with Store(str(self.ledger), create=False) as store, _locks.hold(store, "a test"):
            recovery = recover(store)
        return None if recovery is None else str(recovery)

    def debris(self) -> list[str]:
        names = [name for name in os.listdir(self.pkg) if name.startswith(".specdec")]
        return names + [name for name in os.listdir(self.ledger) if name not in ("lock", "ledger.json", "originals")]


@pytest.fixture
def site(tmp_path: pathlib.Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def shared() -> t.Iterator[Site]:
    """A site that other users can reach, which pytest's own folders are not."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="specdec-tests-")).resolve()
    place.chmod(0o755)
    yield Site(place)
    shutil.rmtree(place)


def test_all_are_written_and_nothing_stays_behind(site: Site) -> None:
    paths = site.put("a.py", "b.py", "c.py")
    site.write(paths)
    assert [path.read_bytes() for path in paths] == [NEW] * 3
    assert (site.ledger / "ledger.json").read_bytes() == b"ledger of " + NEW
    assert site.debris() == []


def test_a_second_write_replaces_the_ledger(site: Site) -> None:
    paths = site.put("a.py")
    site.write(paths)
    site.write(paths, OLD)
    assert paths[0].read_bytes() == OLD
    assert (site.ledger / "ledger.json").read_bytes() == b"ledger of " + OLD


# --- attributes


def test_mode_and_extended_attributes_are_kept(site: Site) -> None:
    (path,) = site.put("a.py")
    os.setxattr(path, "user.origin", b"somewhere")
    path.chmod(0o4640)
    site.write([path])
    assert os.stat(path).st_mode & 0o7777 == 0o4640
    assert os.getxattr(path, "user.origin") == b"somewhere"


def acl(*entries: tuple[int, int, int]) -> bytes:
    """A POSIX ACL as the kernel stores it: version, then tag, permissions, id."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NO_ID = 0xFFFFFFFF
ACL = acl((1, 6, NO_ID), (2, 6, 12345), (4, 4, NO_ID), (16, 6, NO_ID), (32, 0, NO_ID))


def test_an_acl_is_kept(site: Site) -> None:
    (path,) = site.put("a.py")
    os.setxattr(path, "system.posix_acl_access", ACL)
    mode = os.stat(path).st_mode
    site.write([path])
    assert os.getxattr(path, "system.posix_acl_access") == ACL
    assert os.stat(path).st_mode == mode


def test_a_default_acl_of_the_folder_is_not_taken_on(site: Site) -> None:
    (path,) = site.put("a.py")
    path.chmod(0o644)
    os.setxattr(site.pkg, "system.posix_acl_default", ACL)
    site.write([path])
    assert "system.posix_acl_access" not in os.listxattr(path)
    assert os.stat(path).st_mode & 0o777 == 0o644


@needs_root
def test_another_owner_is_kept(site: Site) -> None:
    (path,) = site.put("a.py")
    os.chown(path, NOBODY, SOMEBODY)
    os.setxattr(path, "trusted.label", b"kept")
    site.write([path])
    assert (os.stat(path).st_uid, os.stat(path).st_gid) == (NOBODY, SOMEBODY)
    assert os.getxattr(path, "trusted.label") == b"kept"


@needs_root
def test_a_signature_of_the_content_is_not_copied(site: Site) -> None:
    (path,) = site.put("a.py")
    signature = bytes.fromhex("0404") + bytes.fromhex(sha(OLD))
    os.setxattr(path, "security.ima", signature)
    os.setxattr(path, "security.selinux", b"system_u:object_r:lib_t:s0\0")
    warnings = site.write([path]).warnings
    assert os.listxattr(path) == ["security.selinux"]
    assert warnings == [f"{path}: security.ima signs the old content and was not kept"]


def test_a_hard_link_is_broken_and_the_others_unchanged(site: Site, tmp_path: pathlib.Path) -> None:
    (path,) = site.put("a.py")
    os.link(path, tmp_path / "cache.py")
    os.link(path, tmp_path / "other-venv.py")
    before = os.stat(tmp_path / "cache.py")
    site.write([path])
    assert (tmp_path / "cache.py").read_bytes() == (tmp_path / "other-venv.py").read_bytes() == OLD
    after = os.stat(tmp_path / "cache.py")
    assert (after.st_ino, after.st_nlink, after.st_mtime_ns) == (before.st_ino, 2, before.st_mtime_ns)
    assert os.stat(path).st_nlink == 1


def test_a_read_only_file(site: Site) -> None:
    (path,) = site.put("a.py")
    path.chmod(0o444)
    site.write([path])
    assert (path.read_bytes(), os.stat(path).st_mode & 0o777) == (NEW, 0o444)


def test_the_time_moves_by_a_second_at_least(site: Site) -> None:
    (path,) = site.put("a.py")
    seen = [int(os.stat(path).st_mtime)]
    for data in (NEW, OLD, NEW):
        site.write([path], data)
        seen.append(int(os.stat(path).st_mtime))
    assert seen == sorted(set(seen))
    future = time.time() + 10_000
    os.utime(path, (future, future))
    site.write([path], OLD)
    assert int(os.stat(path).st_mtime) > int(future)


# --- bytecode


def runs(path: pathlib.Path, *flags: str) -> str:
    code = f"import sys; sys.path.insert(0, {str(path.parent)!r}); import {path.stem} as m; print(m.VALUE)"
    return subprocess.check_output([sys.executable, *flags, "-c", code]).decode().strip()


@pytest.mark.parametrize("mode", ["TIMESTAMP", "CHECKED_HASH", "UNCHECKED_HASH"])
@pytest.mark.parametrize("flags", [(), ("-O",), ("-OO",)])
def test_old_code_never_runs(site: Site, mode: str, flags: tuple[str, ...]) -> None:
    """Same size, same second: what a plain rename gets wrong."""
    (path,) = site.put("mod.py", data=b"VALUE = 1\n")
    optimize = len(flags[0]) - 1 if flags else 0
    py_compile.compile(
        str(path), doraise=True, optimize=optimize, invalidation_mode=getattr(py_compile.PycInvalidationMode, mode)
    )
    assert runs(path, *flags) == "1"
    site.write([path], b"VALUE = 2\n")
    assert runs(path, *flags) == "2"


def test_bytecode_elsewhere_never_runs(site: Site, tmp_path: pathlib.Path) -> None:
    (path,) = site.put("mod.py", data=b"VALUE = 1\n")
    flags = ("-X", f"pycache_prefix={tmp_path / 'elsewhere'}")
    assert runs(path, *flags) == "1"
    site.write([path], b"VALUE = 2\n")
    assert runs(path, *flags) == "2"


def test_only_its_own_bytecode_goes(site: Site) -> None:
    paths = site.put("mod.py", "model.py", "mod_2.py")
    cache = site.pkg / "__pycache__"
    cache.mkdir()
    tag = sys.implementation.cache_tag
    gone = [f"mod.{tag}.pyc", f"mod.{tag}.opt-1.pyc", f"mod.{tag}.opt-2.pyc", "mod.cpython-38.pyc", "mod.pypy310.pyc"]
    kept = [f"model.{tag}.pyc", f"mod_2.{tag}.pyc", "mod.txt", f"mod.{tag}.pyc.1234", f"xmod.{tag}.pyc"]
    for name in gone + kept:
        (cache / name).write_bytes(b"")
    (site.pkg / "mod.pyc").write_bytes(b"")
    (site.pkg / "model.pyc").write_bytes(b"")
    site.write(paths[:1])
    assert sorted(os.listdir(cache)) == sorted(kept)
    assert not (site.pkg / "mod.pyc").exists()
    assert (site.pkg / "model.pyc").exists()


def test_a_linked_bytecode_file_goes_but_not_what_it_leads_to(site: Site, tmp_path: pathlib.Path) -> None:
    paths = site.put("mod.py")
    (tmp_path / "precious.pyc").write_bytes(b"x")
    (site.pkg / "mod.pyc").symlink_to(tmp_path / "precious.pyc")
    site.write(paths)
    assert (tmp_path / "precious.pyc").exists()
    assert not os.path.lexists(site.pkg / "mod.pyc")


@needs_root
def test_unchecked_bytecode_that_cannot_go_stops_the_write(shared: Site) -> None:
    (path,) = shared.put("mod.py", data=b"VALUE = 1\n")
    cache = pathlib.Path(importlib.util.cache_from_source(str(path)))
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(path), doraise=True, invalidation_mode=unchecked)
    for place in (shared.root, shared.root / "site", shared.pkg, path):
        os.chown(place, NOBODY, NOBODY)

    def write() -> None:
        assert "unchecked hash" in str(shared.check([path]))
        with pytest.raises(SpecdecError, match="is used without a look at its source"):
            shared.write([path], b"VALUE = 2\n")
        assert path.read_bytes() == b"VALUE = 1\n"
        assert shared.debris() == []

    assert in_child(write, uid=NOBODY) == 0
    assert cache.exists()


# --- what cannot be written: everything stays as it was, and check mode knows it before


def refused(site: Site, paths: list[pathlib.Path], said: str, *, foreseen: bool = True) -> None:
    """The write fails with ``said`` and leaves nothing; check mode says the same without a byte written."""
    site.ledger.mkdir(exist_ok=True)
    before = snapshot(site.root)
    problem = site.check(paths)
    assert (problem is not None) == foreseen
    assert snapshot(site.root) == before
    with pytest.raises(SpecdecError, match=said) as caught:
        site.write(paths)
    if problem is not None:
        assert problem.message == caught.value.message
    after = snapshot(site.root)
    for path in (str(site.ledger), str(site.ledger / "lock"), str(site.pkg)):
        before.pop(path, None), after.pop(path, None)
    assert after == before


@needs_root
@pytest.mark.parametrize(("flag", "word"), [("i", "immutable"), ("a", "append-only")])
@pytest.mark.parametrize("what", ["file", "directory"])
def test_chattr(shared: Site, flag: str, word: str, what: str) -> None:
    paths = shared.put("a.py", "b.py")
    place = paths[1] if what == "file" else shared.pkg
    subprocess.check_call(["chattr", f"+{flag}", str(place)])
    try:
        refused(shared, paths, rf"the {what} {place} is {word}; 'chattr -{flag}")
    finally:
        subprocess.check_call(["chattr", f"-{flag}", str(place)])


class Mount:
    """A mount that goes with the test."""

    def __init__(self, *arguments: str) -> None:
        subprocess.check_call(["mount", *arguments])
        self._place = arguments[-1]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_error: object) -> None:
        subprocess.check_call(["umount", self._place])


@needs_root
def test_a_single_file_bound_into_place(shared: Site) -> None:
    paths = shared.put("a.py", "b.py")
    (shared.root / "outside.py").write_bytes(OLD)
    with Mount("--bind", str(shared.root / "outside.py"), str(paths[1])):
        refused(shared, paths, f"{paths[1]} is a mount of its own")


@needs_root
def test_a_read_only_file_system(shared: Site) -> None:
    (shared.root / "ro").mkdir()
    with Mount("-t", "tmpfs", "tmpfs", str(shared.root / "ro")):
        (shared.root / "ro" / "b.py").write_bytes(OLD)
        subprocess.check_call(["mount", "-o", "remount,ro", str(shared.root / "ro")])
        paths = [*shared.put("a.py"), shared.root / "ro" / "b.py"]
        refused(shared, paths, "ro/b.py is on a read-only file system")


@needs_root
def test_on_an_overlay_the_lower_layer_stays(shared: Site) -> None:
    """As in a container: the files come from an image layer."""
    (path,) = shared.put("a.py")
    path.chmod(0o640)
    layers = [shared.root / name for name in ("upper", "work", "merged")]
    for layer in layers:
        layer.mkdir()
    upper, work, merged = (str(layer) for layer in layers)
    options = f"lowerdir={shared.root / 'site'},upperdir={upper},workdir={work}"
    with Mount("-t", "overlay", "overlay", "-o", options, merged):
        inside = layers[2] / "pkg" / "a.py"
        assert shared.check([inside]) is None
        shared.write([inside])
        assert inside.read_bytes() == NEW
        assert os.stat(inside).st_mode & 0o777 == 0o640
        assert sorted(os.listdir(inside.parent)) == ["a.py"]
    assert path.read_bytes() == OLD


@needs_root
@pytest.mark.parametrize("where", ["package", "ledger"])
def test_a_full_disk(shared: Site, where: str) -> None:
    paths = shared.put("a.py")
    if where == "package":
        full = shared.root / "full"
        full.mkdir()
    else:
        full = shared.ledger
        full.mkdir()
    with Mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(full)):
        if where == "package":
            (full / "b.py").write_bytes(OLD)
            paths.append(full / "b.py")
        (full / "filler").write_bytes(b"")
        with open(full / "filler", "wb", buffering=0) as stream:
            try:
                while True:
                    stream.write(bytes(4096))
            except OSError as error:
                assert error.errno == errno.ENOSPC
        before = {path: path.read_bytes() for path in paths}
        with pytest.raises(SpecdecError, match="No space left on device|no room for"):
            shared.write(paths)
        assert {path: path.read_bytes() for path in paths} == before
        assert not [name for name in os.listdir(full) if name.startswith((".specdec", "journal"))]
        os.unlink(full / "filler")
        shared.write(paths)
        assert [path.read_bytes() for path in paths] == [NEW] * len(paths)


def test_a_limit_on_the_size_of_files(site: Site) -> None:
    paths = site.put("a.py", "b.py")
    site.write(paths, OLD + b"#")

    def write() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        with pytest.raises(SpecdecError, match="no room for the new .*Everything is as it was"):
            site.write(paths, NEW * 1000)

    assert in_child(write) == 0
    assert [path.read_bytes() for path in paths] == [OLD + b"#"] * 2
    assert site.debris() == []


@needs_root
def test_a_folder_without_write_permission(shared: Site) -> None:
    paths = shared.put("a.py")
    shared.ledger.mkdir()
    for place in (shared.ledger, *paths):
        os.chown(place, NOBODY, NOBODY)
    said = f"nobody cannot write in {shared.pkg}, which belongs to root.*become_user: root"

    def write() -> None:
        refused_without_snapshot(shared, paths, said)
        assert shared.debris() == []

    assert in_child(write, uid=NOBODY) == 0


@needs_root
@pytest.mark.parametrize(
    ("uid", "gid", "said"), [(SOMEBODY, NOBODY, "belongs to 12345"), (NOBODY, SOMEBODY, "has group 12345")]
)
def test_an_owner_that_could_not_be_kept(shared: Site, uid: int, gid: int, said: str) -> None:
    paths = shared.put("a.py")
    shared.ledger.mkdir()
    for place in (shared.pkg, shared.ledger):
        os.chown(place, NOBODY, NOBODY)
    os.chown(paths[0], uid, gid)
    paths[0].chmod(0o666)

    def write() -> None:
        refused_without_snapshot(shared, paths, f"{said}.*could not keep that.*become_user")

    assert in_child(write, uid=NOBODY) == 0


def refused_without_snapshot(site: Site, paths: list[pathlib.Path], said: str) -> None:
    problem = site.check(paths)
    with pytest.raises(SpecdecError, match=said) as caught:
        site.write(paths)
    assert problem is not None
    assert caught.value.message.startswith(problem.message)
    assert [path.read_bytes() for path in paths] == [OLD] * len(paths)


@needs_root
def test_a_sticky_folder(shared: Site) -> None:
    paths = shared.put("a.py")
    shared.ledger.mkdir()
    os.chown(shared.ledger, NOBODY, NOBODY)
    shared.pkg.chmod(0o1777)

    def write() -> None:
        refused_without_snapshot(shared, paths, "is sticky, so only root can replace")

    assert in_child(write, uid=NOBODY) == 0


@needs_root
def test_a_lock_of_another_user(shared: Site) -> None:
    paths = shared.put("a.py")
    shared.write(paths)
    for place in (shared.pkg, shared.ledger, *paths):
        os.chown(place, NOBODY, NOBODY)

    def write() -> None:
        assert "cannot lock" in str(shared.check(paths))
        with pytest.raises(SpecdecError, match="cannot lock .*ledger/lock: nobody has no permission"):
            shared.write(paths, OLD)
        assert paths[0].read_bytes() == NEW

    assert in_child(write, uid=NOBODY) == 0


def test_a_file_that_changed_meanwhile(site: Site) -> None:
    paths = site.put("a.py", "b.py")
    store = open_store(str(site.ledger), create=True)
    assert store is not None
    with store, open_place(str(paths[0])) as first, open_place(str(paths[1])) as second:
        transaction = Transaction(store, "a test")
        transaction.write(first, NEW, sha(OLD))
        transaction.write(second, NEW, sha(OLD))
        paths[1].unlink()
        paths[1].write_bytes(b"someone else\n")
        with pytest.raises(Refused, match="b.py was changed by someone else"):
            transaction.commit()
    assert [path.read_bytes() for path in paths] == [OLD, b"someone else\n"]
    assert site.debris() == []


def test_a_rename_that_fails_halfway_takes_all_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third of four renames fails; inodes, times and link counts are those from before."""
    paths = site.put("a.py", "b.py", "c.py", "d.py")
    site.ledger.mkdir()
    before = snapshot(site.pkg)
    real, calls = os.rename, []

    def rename(source: str, target: str, **handles: int) -> None:
        if source.endswith(".new"):
            calls.append(target)
            if len(calls) == 3:
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        real(source, target, **handles)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(SpecdecError, match="c.py is a mount of its own"):
        site.write(paths)
    monkeypatch.undo()
    assert calls == ["a.py", "b.py", "c.py"]
    assert snapshot(site.pkg) == before
    assert site.debris() == []


def test_no_second_names_on_this_file_system(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on FAT: the old bytes are kept as a copy instead."""
    paths = site.put("a.py", "b.py")
    paths[0].chmod(0o640)

    def link(*_names: str, **_handles: t.Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    site.write(paths)
    assert [path.read_bytes() for path in paths] == [NEW] * 2
    assert os.stat(paths[0]).st_mode & 0o777 == 0o640
    assert site.debris() == []


# --- killed runs


def killed_at(site: Site, paths: list[pathlib.Path], call: str, count: int, *, after: bool) -> bool:
    """Runs a write whose process dies by SIGKILL at the ``count``th ``call``; False when it never got there."""

    def write() -> None:
        real, seen = getattr(os, call), []

        def dying(*arguments: t.Any, **named: t.Any) -> t.Any:
            seen.append(arguments)
            if len(seen) == count and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return real(*arguments, **named)
            finally:
                if len(seen) == count:
                    os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, call, dying)
        site.write(paths)

    status = in_child(write)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", ["open", "link", "rename", "unlink", "fsync", "write", "utime", "fchmod"])
def test_killed_at_every_call(tmp_path: pathlib.Path, call: str, after: bool) -> None:
    """Whatever instant: after the next run's recovery the set is whole, and nothing stays behind."""
    journals, count = 0, 0
    while True:
        count += 1
        site = Site(tmp_path / str(count))
        paths = site.put("a.py", "b.py")
        if not killed_at(site, paths, call, count, after=after):
            break
        open_before = (site.ledger / JOURNAL).exists()
        journals += open_before
        if site.ledger.exists():
            said = site.recover()
            assert said is None or "was killed while it wrote" in said
        states = {path.read_bytes() for path in paths}
        assert len(states) == 1 and states <= {OLD, NEW}
        ledger = site.ledger / "ledger.json"
        assert ledger.exists() == (states == {NEW})
        if site.ledger.exists():
            assert site.debris() == []
        site.write(paths, NEW + b"#")
        assert [path.read_bytes() for path in paths] == [NEW + b"#"] * 2
    assert count > 1
    assert [path.read_bytes() for path in paths] == [NEW] * 2
    assert journals or call in ("write",)


def test_recovery_itself_may_be_killed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = site.put("a.py", "b.py", "c.py")
    assert killed_at(site, paths, "rename", 2, after=True)
    assert len({path.read_bytes() for path in paths}) == 2

    def recovering() -> None:
        real = os.rename

        def dying(*arguments: t.Any, **named: t.Any) -> None:
            real(*arguments, **named)
            os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr(os, "rename", dying)
        site.recover()

    assert os.WIFSIGNALED(in_child(recovering))
    assert (site.ledger / JOURNAL).exists()
    assert "completed" in str(site.recover())
    assert [path.read_bytes() for path in paths] == [NEW] * 3


def test_check_mode_only_says_so(site: Site) -> None:
    paths = site.put("a.py", "b.py")
    assert killed_at(site, paths, "rename", 1, after=True)
    before = snapshot(site.root)
    with Store(str(site.ledger), create=False) as store:
        assert "killed while it wrote" in str(pending(store))
    assert snapshot(site.root) == before


def test_an_upgrade_between_the_kill_and_the_next_run_wins(site: Site) -> None:
    paths = site.put("a.py", "b.py", "c.py")
    assert killed_at(site, paths, "rename", 1, after=True)
    paths[1].unlink()
    paths[1].write_bytes(b"upgraded\n")
    assert "taken back" in str(site.recover())
    assert [path.read_bytes() for path in paths] == [OLD, b"upgraded\n", OLD]
    assert site.debris() == []


def test_an_uninstall_between_the_kill_and_the_next_run(site: Site) -> None:
    paths = site.put("a.py", "b.py")
    assert killed_at(site, paths, "rename", 1, after=True)
    shutil.rmtree(site.pkg)
    assert "taken back" in str(site.recover())
    assert not (site.ledger / JOURNAL).exists()


@pytest.mark.parametrize(
    "text",
    [
        '{"format": 9, "transaction": "0123456789abcdef", "what": "x", "files": []}',
        '{"format": 1, "transaction": "../../../etc/x", "what": "x", "files": []}',
        '{"format": 1, "transaction": "0123456789abcdef", "what": "x", "files": [["/etc", "passwd", null, "00"]]}',
        '{"format": 1, "transaction": "0123456789abcdef", "what": "x", "files": [["etc", "passwd", "11", "00"]]}',
        '{"format": 1, "transaction": "0123456789abcdef", "what": "x", "files": [["/etc", "a/b", "11", "00"]]}',
        '{"format": 1, "transaction": "0123456789abcdef", "what": "x", "files": [["/etc", "..", "11", "00"]]}',
        "not json",
        "[]",
    ],
)
def test_a_journal_that_makes_no_sense_is_not_followed(site: Site, text: str) -> None:
    site.ledger.mkdir()
    (site.ledger / JOURNAL).write_text(text + "\n")
    with pytest.raises(SpecdecError, match="is damaged or was written by another version"):
        site.recover()
    assert (site.ledger / JOURNAL).exists()


def test_a_torn_journal_was_never_meant(site: Site) -> None:
    site.ledger.mkdir()
    (site.ledger / JOURNAL).write_text('{"format": 1, "transac')
    assert site.recover() is None
    assert not (site.ledger / JOURNAL).exists()


@needs_root
def test_a_users_journal_does_not_make_root_touch_others_files(shared: Site) -> None:
    """The ledger is nobody's: a journal forged there may name files, but root does nothing in folders of others."""
    (victim,) = shared.put("victim.py")
    shared.ledger.mkdir()
    note = {"format": 1, "transaction": "0" * 16, "what": "x"}
    files = [[str(shared.pkg), "victim.py", sha(b"evil"), sha(OLD)]]
    (shared.ledger / JOURNAL).write_text(json.dumps({**note, "files": files}) + "\n" + '{"mark": "undo"}\n')
    os.chown(shared.ledger, NOBODY, NOBODY)
    (shared.pkg / f".specdec-{'0' * 16}-0.old").write_bytes(b"evil")
    with pytest.raises(Refused, match="belongs to nobody, but"):
        shared.recover()
    assert victim.read_bytes() == OLD


@needs_root
def test_root_never_writes_where_a_swapped_folder_leads(shared: Site) -> None:
    """A user swaps the package for a link to root's folder as fast as possible, while root patches the package."""
    (path,) = shared.put("a.py")
    outside = shared.root / "outside"
    (outside / "__pycache__").mkdir(parents=True)
    for name in ("a.py", "a.pyc", "__pycache__/a.cpython-311.pyc"):
        (outside / name).write_bytes(OLD)
    for place in (shared.root / "site", shared.pkg, path):
        os.chown(place, NOBODY, NOBODY)
    before = snapshot(outside)
    child = os.fork()
    if child == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            os.chdir(shared.root / "site")
            os.symlink(outside, "link")
            while True:
                os.rename("pkg", "kept")
                os.rename("link", "pkg")
                os.rename("pkg", "link")
                os.rename("kept", "pkg")
        finally:
            os._exit(1)
    outcomes: dict[str, int] = {}
    try:
        number = 0
        while number < 5000 and not (outcomes.get("written", 0) > 10 and sum(outcomes.values()) > 100):
            number += 1
            try:
                shared.write([path], b"number = %d\n" % number)
                outcome = "written"
            except (SpecdecError, OSError) as error:
                outcome = type(error).__name__
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert snapshot(outside) == before
    # The attack was on, and root got its work done in between.
    assert outcomes.get("written") and sum(outcomes.values()) > outcomes["written"]
    assert set(outcomes) <= {"written", "Refused", "Gone", "BadInput", "SpecdecError"}


@needs_root
def test_root_goes_on_in_a_users_ledger_and_leaves_it_to_the_user(shared: Site) -> None:
    paths = shared.put("a.py")
    for place in (shared.root, shared.root / "site", shared.pkg, *paths):
        os.chown(place, NOBODY, NOBODY)
    shared.write(paths)
    owners = {os.stat(place).st_uid for place in [shared.ledger, *shared.ledger.iterdir(), *paths]}
    assert owners == {NOBODY}

    def write() -> None:
        shared.write(paths, OLD)

    assert in_child(write, uid=NOBODY) == 0
    assert paths[0].read_bytes() == OLD


@needs_root
def test_a_ledger_open_to_all_is_not_believed(site: Site) -> None:
    site.ledger.mkdir()
    site.ledger.chmod(0o777)
    with pytest.raises(Refused, match="chmod go-w"):
        open_store(str(site.ledger), create=False)


# --- races


def test_waiting_is_bounded_and_says_for_whom(site: Site) -> None:
    paths = site.put("a.py")
    site.ledger.mkdir()
    ready, done = os.pipe()
    child = os.fork()
    if child == 0:
        with Store(str(site.ledger), create=False) as store, _locks.hold(store, "the other patch"):
            os.write(done, b"x")
            time.sleep(60)
        os._exit(0)
    try:
        os.read(ready, 1)
        with Store(str(site.ledger), create=False) as store:
            begin = time.monotonic()
            said = f"process {child} on .* since 2.*Z, for the other patch. Waited 0.3 s"
            with pytest.raises(SpecdecError, match=said), _locks.hold(store, "mine", wait=0.3):
                pytest.fail("two hold the lock")
            assert 0.3 <= time.monotonic() - begin < 5
            with pytest.raises(SpecdecError, match="for the other patch"), _locks.share(store, wait=0):
                pytest.fail("a reader got in")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    site.write(paths)
    assert paths[0].read_bytes() == NEW


def test_readers_do_not_wait_for_each_other_and_write_nothing(site: Site) -> None:
    site.put("a.py")
    site.ledger.mkdir()
    before = snapshot(site.root)
    with Store(str(site.ledger), create=False) as store, _locks.share(store), _locks.share(store):
        assert snapshot(site.root) == before
    site.write([site.pkg / "a.py"])
    with Store(str(site.ledger), create=False) as store:
        before = snapshot(site.root)
        with _locks.share(store), _locks.share(store, wait=0):
            assert snapshot(site.root) == before


def test_a_child_process_does_not_keep_the_lock(site: Site) -> None:
    site.ledger.mkdir()
    with Store(str(site.ledger), create=False) as store:
        with _locks.hold(store, "parent"):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"], close_fds=False)
        try:
            with _locks.hold(store, "next", wait=10):
                pass
        finally:
            child.kill()
            child.wait()


def test_eight_writers_never_tear_a_file(site: Site) -> None:
    """Eight processes write two files of one set while a reader looks; each read is whole."""
    paths = site.put("a.py", "b.py", data=b"0" * 50_000)
    children = []
    for number in range(8):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for _turn in range(5):
                    site.write(paths, str(number).encode() * 50_000)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    running = set(children)
    reads = 0
    while running:
        for path in paths:
            data = path.read_bytes()
            assert len(data) == 50_000 and len(set(data)) == 1
            reads += 1
        for child in list(running):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                assert status == 0
                running.discard(child)
    assert reads > 100
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert site.debris() == []


def test_the_journal_of_a_good_run_is_closed(site: Site) -> None:
    paths = site.put("a.py")
    site.write(paths)
    with Store(str(site.ledger), create=False) as store:
        assert open_journal(store) is None
        with open(site.ledger / "lock", "rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
