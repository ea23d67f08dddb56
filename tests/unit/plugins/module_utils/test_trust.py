# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment, probe
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import (
    ANYONE,
    child_credentials,
    controllers,
    writers,
)
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import in_child

NOBODY, SOMEBODY = 65534, 12345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play several users")


@pytest.fixture
def place() -> t.Iterator[pathlib.Path]:
    found = pathlib.Path(tempfile.mkdtemp(prefix="specdec-tests-")).resolve()
    found.chmod(0o755)
    yield found
    shutil.rmtree(found)


def environment(place: pathlib.Path) -> Environment:
    """A venv-like prefix whose interpreter is a copy, so that every user can start it."""
    python = place / "bin" / "python"
    site = place / "lib" / "site-packages"
    site.mkdir(parents=True)
    python.parent.mkdir()
    shutil.copy(os.path.realpath("/bin/sh"), python)
    return Environment(
        python=str(python),
        version=(3, 11, 0),
        prefix=str(place),
        base_prefix="/usr",
        is_venv=True,
        site_packages=[str(site)],
    )


@needs_root
def test_roots_own_place_needs_nobody_else(place: pathlib.Path) -> None:
    assert child_credentials(environment(place)) is None


@needs_root
@pytest.mark.parametrize("what", [".", "bin", "bin/python", "lib/site-packages", "lib"])
def test_whoever_can_write_any_part_is_the_one(place: pathlib.Path, what: str) -> None:
    env = environment(place)
    os.chown(place / what, NOBODY, NOBODY)
    credentials = child_credentials(env)
    assert credentials is not None
    assert (credentials.uid, credentials.name) == (NOBODY, "nobody")


@needs_root
def test_an_interpreter_that_is_a_link_into_a_users_place(place: pathlib.Path) -> None:
    env = environment(place / "venv")
    (place / "theirs").mkdir()
    shutil.move(env.python, place / "theirs" / "python")
    os.symlink(place / "theirs" / "python", env.python)
    os.chown(place / "theirs", NOBODY, NOBODY)
    credentials = child_credentials(env)
    assert credentials is not None and credentials.uid == NOBODY


@needs_root
def test_a_child_is_that_user_and_nothing_more(place: pathlib.Path) -> None:
    env = environment(place)
    os.chown(place, NOBODY, NOBODY)
    credentials = child_credentials(env)
    assert credentials is not None
    script = "id -u; id -g; id -G; echo $HOME $USER"
    output = subprocess.check_output(
        ["/bin/sh", "-c", script],
        preexec_fn=credentials.assume,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", **credentials.environment},
    )
    uid, gid, groups, names = output.decode().splitlines()
    assert (uid, gid, groups) == (str(NOBODY), str(NOBODY), str(NOBODY))
    assert names.endswith(" nobody")


@needs_root
def test_a_user_without_a_name(place: pathlib.Path) -> None:
    env = environment(place)
    os.chown(place, SOMEBODY, SOMEBODY)
    credentials = child_credentials(env)
    assert credentials is not None
    assert (credentials.uid, credentials.gid, credentials.name) == (SOMEBODY, SOMEBODY, None)
    output = subprocess.check_output(["/usr/bin/id", "-u"], preexec_fn=credentials.assume, cwd="/")
    assert output.strip() == str(SOMEBODY).encode()


@needs_root
def test_two_owners_are_refused(place: pathlib.Path) -> None:
    env = environment(place)
    os.chown(place, NOBODY, NOBODY)
    os.chown(place / "bin", SOMEBODY, SOMEBODY)
    with pytest.raises(Refused, match=f"root does not start {env.python}.*become_user: 12345"):
        child_credentials(env)


@needs_root
def test_a_place_open_to_everybody_is_refused(place: pathlib.Path) -> None:
    env = environment(place)
    (place / "lib").chmod(0o777)
    with pytest.raises(Refused, match="a group or everybody.*set become_user"):
        child_credentials(env)
    (place / "lib").chmod(0o1777)
    assert child_credentials(env) is None


@needs_root
def test_a_group_counts_only_if_somebody_is_in_it(place: pathlib.Path) -> None:
    (place / "own-group").mkdir()
    daemon = pwd.getpwnam("daemon")
    os.chown(place / "own-group", daemon.pw_uid, daemon.pw_gid)
    (place / "own-group").chmod(0o775)
    assert writers(os.stat(place / "own-group")) == {daemon.pw_uid}
    (place / "others").mkdir()
    os.chown(place / "others", 0, daemon.pw_gid)
    (place / "others").chmod(0o775)
    assert writers(os.stat(place / "others")) == {ANYONE}
    # Unknown groups may have anybody in them; root's has root.
    os.chown(place / "others", 0, SOMEBODY)
    assert writers(os.stat(place / "others")) == {ANYONE}
    os.chown(place / "others", 0, 0)
    assert writers(os.stat(place / "others")) == set()


@needs_root
def test_without_root_there_is_nothing_to_give_up(place: pathlib.Path) -> None:
    env = environment(place)
    os.chown(place / "bin", SOMEBODY, SOMEBODY)

    def run() -> None:
        assert child_credentials(env) is None

    assert in_child(run, uid=NOBODY) == 0


def test_controllers_name_the_place(place: pathlib.Path) -> None:
    (place / "a" / "b").mkdir(parents=True)
    if os.geteuid() == 0:
        os.chown(place / "a", NOBODY, NOBODY)
        assert controllers([str(place / "a" / "b")]) == {NOBODY: str(place / "a")}
    else:
        assert controllers([str(place / "a" / "b")]) == {}


@needs_root
def test_the_probe_of_a_users_interpreter_runs_as_that_user(place: pathlib.Path) -> None:
    python = place / "bin" / "python"
    python.parent.mkdir()
    facts = {"version": [3, 11, 2], "base_prefix": str(place), "user": "/nowhere", "folders": [str(place)]}
    python.write_text(f"#!/bin/sh\nid -u > {place}/who\nid -G >> {place}/who\necho '{json.dumps(facts)}'\n")
    python.chmod(0o755)
    for path in (place, python.parent, python):
        os.chown(path, NOBODY, NOBODY)
    env = probe(str(python))
    assert (env.version, env.site_packages) == ((3, 11, 2), [str(place)])
    assert (place / "who").read_text().split() == [str(NOBODY), str(NOBODY)]


@needs_root
def test_the_probe_of_an_interpreter_that_anybody_can_write_is_refused(place: pathlib.Path) -> None:
    python = place / "python"
    python.write_text(f"#!/bin/sh\ntouch {place}/ran\n")
    python.chmod(0o777)
    with pytest.raises(Refused, match="root does not start"):
        probe(str(python))
    assert not (place / "ran").exists()
