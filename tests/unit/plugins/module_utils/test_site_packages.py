# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import typing as t
import zipfile

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _interpreter
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import probe
from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import (
    NotInstalled,
    Package,
    find_package,
    record_digest_matches,
)
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import FILES, MODEL, Venv

SETUPTOOLS_FINDER = """from __future__ import annotations
import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location
MAPPING: dict[str, str] = {mapping!r}
NAMESPACES: dict[str, list[str]] = {{}}
class _Finder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            return spec_from_file_location(fullname, MAPPING[fullname] + "/__init__.py")
        return None
def install():
    sys.meta_path.append(_Finder)
"""
EDITABLES_IMPL = """import sys
from importlib.util import spec_from_file_location
class F:
    known = {{}}
    @classmethod
    def install(cls):
        sys.meta_path.append(cls)
    @classmethod
    def map_module(cls, name, path):
        cls.known[name] = path
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return spec_from_file_location(name, cls.known[name]) if name in cls.known else None
F.install()
F.map_module('engine', {path!r})
"""


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Venv:
    return Venv(tmp_path / "venv")


def imported(python: str, name: str, cwd: pathlib.Path | None = None) -> str:
    """What the interpreter itself imports: the folder of the package."""
    code = f"import {name}, os; print(os.path.dirname({name}.__file__))"
    return (
        subprocess.run([python, "-I", "-c", code], check=True, stdout=subprocess.PIPE, cwd=cwd).stdout.decode().strip()
    )


def found(home: Venv, name: str = "engine") -> Package:
    """Found by us, after a check that the interpreter finds the same."""
    package = find_package(probe(home.python), name)
    assert package.directory == imported(home.python, name)
    return package


def source_tree(root: pathlib.Path) -> pathlib.Path:
    for path, data in FILES.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root


# --- the environment


def test_a_venv_is_read_without_starting_it(home: Venv) -> None:
    said = asked(home.python)
    (home.root / "bin" / "python").unlink()
    (home.root / "bin" / "python").write_text(f"#!/bin/sh\ntouch {home.root}/started\nexit 9\n")
    (home.root / "bin" / "python").chmod(0o755)
    env = probe(home.python)
    assert (env.is_venv, env.prefix, env.site_packages) == (True, str(home.root), [str(home.site)])
    assert env.version == said.version
    assert not (home.root / "started").exists()


def test_a_venv_made_by_a_venvs_python(home: Venv) -> None:
    env, said = probe(home.python), asked(home.python)
    assert (env.prefix, env.base_prefix, env.version) == (said.prefix, said.base, said.version)


class Said(t.NamedTuple):
    """What an interpreter says of itself."""

    prefix: str
    base: str
    version: tuple[int, ...]
    path: list[str]


def asked(python: str) -> Said:
    code = "import sys, json; json.dump([sys.prefix, sys.base_prefix, sys.version_info[:3], sys.path], sys.stdout)"
    prefix, base, version, path = json.loads(subprocess.check_output([python, "-I", "-c", code]))
    return Said(prefix, base, tuple(version), path)


def test_system_site_packages_come_after_the_venvs_own(tmp_path: pathlib.Path) -> None:
    shared = Venv(tmp_path / "venv", system_site_packages=True)
    env, said = probe(shared.python), asked(shared.python)
    assert env.site_packages[0] == str(shared.site)
    listed = [item for item in said.path if item in env.site_packages]
    assert listed == [item for item in env.site_packages if item in listed]
    assert len(listed) >= 2
    assert (env.prefix, env.base_prefix, env.version) == (said.prefix, said.base, said.version)


def test_an_interpreter_that_is_no_venv_is_asked_once(tmp_path: pathlib.Path) -> None:
    base = os.path.realpath(os.path.join(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}"))
    env, said = probe(base), asked(base)
    assert not env.is_venv
    assert env.prefix == env.base_prefix == said.prefix
    assert env.version == said.version
    assert [item for item in env.site_packages if item in said.path]
    assert probe(base) is env


def test_the_probe_runs_no_pth_file(tmp_path: pathlib.Path) -> None:
    shared = Venv(tmp_path / "venv", system_site_packages=True)
    (shared.site / "evil.pth").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    (shared.site / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    probe(shared.python)
    assert not (tmp_path / "ran").exists()
    subprocess.check_call([shared.python, "-c", ""])
    assert (tmp_path / "ran").exists()


def test_none_is_this_interpreter() -> None:
    assert probe(None).python == os.path.abspath(sys.executable)
    assert probe(None).version == sys.version_info[:3]


def test_a_name_is_looked_up_on_path(home: Venv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home.root / "bin"))
    assert probe("python").prefix == str(home.root)
    with pytest.raises(BadInput, match="on PATH"):
        probe("python9.9")


def test_a_missing_interpreter(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadInput, match="there is no interpreter at .*install the engine first"):
        probe(str(tmp_path / "bin" / "python"))


def test_a_folder_says_what_was_meant(home: Venv) -> None:
    with pytest.raises(BadInput, match=r"did you mean .*/venv/bin/python\?"):
        probe(str(home.root))


def test_a_venv_that_lost_its_python(home: Venv) -> None:
    (home.root / "bin" / "python").unlink()
    (home.root / "bin" / "python").symlink_to("/nowhere/python3")
    with pytest.raises(BadInput, match="Make the venv anew"):
        probe(home.python)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\necho no Python here >&2\nexit 3\n", "exit code 3"),
        ("#!/bin/sh\necho '[]'\n", "does not answer"),
        ("#!/bin/sh\necho hello\n", "does not answer"),
        ("#!/nowhere/sh\n", "cannot start"),
    ],
)
def test_what_does_not_answer_as_python(tmp_path: pathlib.Path, script: str, said: str) -> None:
    (tmp_path / "python").write_text(script)
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(SpecdecError, match=said):
        probe(str(tmp_path / "python"))


def test_not_executable(tmp_path: pathlib.Path) -> None:
    (tmp_path / "python").write_text("")
    with pytest.raises(BadInput, match="not an interpreter that this user may run"):
        probe(str(tmp_path / "python"))


def test_a_probe_that_hangs_is_ended(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_interpreter, "_PROBE_SECONDS", 0.2)
    (tmp_path / "python").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(SpecdecError, match="did not answer within"):
        probe(str(tmp_path / "python"))


# --- finding the package, each time as the interpreter itself finds it


def test_installed(home: Venv) -> None:
    home.install(version="1.2.3")
    package = found(home)
    assert (package.root, package.distribution, package.version) == (str(home.site), "engine", "1.2.3")
    assert not package.editable
    assert package.links == package.notes == []
    assert record_digest_matches(package, "engine/model.py", MODEL) is True
    assert record_digest_matches(package, "engine/model.py", MODEL + b"#") is False
    assert record_digest_matches(package, "engine/new.py", b"") is None


def test_the_distribution_has_another_name(home: Venv) -> None:
    home.install("engine-cpu", "0.32.0")
    assert (found(home).distribution, found(home).version) == ("engine-cpu", "0.32.0")


def test_two_engines_in_one_venv(home: Venv) -> None:
    home.install("engine", "1.0")
    home.install("other", "2.0", {"other/__init__.py": b"", "other/a,b.py": b"x"})
    assert (found(home, "engine").version, found(home, "other").version) == ("1.0", "2.0")
    assert record_digest_matches(found(home, "other"), "other/a,b.py", b"x") is True


def test_a_plugin_that_puts_a_file_into_the_package_does_not_own_it(home: Venv) -> None:
    home.install("engine", "1.0")
    home.install("a-plugin", "9.9", {"engine/plugin.py": b""})
    assert found(home).distribution == "engine"


def test_a_distribution_with_a_longer_name_does_not_own_it(home: Venv) -> None:
    home.install("engine", "1.0")
    home.install("engine-router", "9.9", {"engine_router/__init__.py": b"", "engine.cfg": b""})
    assert found(home).distribution == "engine"


def test_two_distributions_own_it(home: Venv) -> None:
    home.install("engine", "1.0")
    home.metadata("engine-cpu", "1.1", FILES)
    with pytest.raises(Refused, match="engine 1.0 .*engine-cpu 1.1|engine-cpu 1.1 .*engine 1.0"):
        find_package(probe(home.python), "engine")


def test_no_record(home: Venv) -> None:
    home.install("Engine", "1.0", record=False)
    package = found(home)
    assert (package.distribution, package.version) == ("Engine", "1.0")
    assert record_digest_matches(package, "engine/model.py", MODEL) is None


def test_no_record_but_top_level(home: Venv) -> None:
    home.install("thing", "1.0", record=False, extra={"top_level.txt": "engine\n"})
    assert found(home).distribution == "thing"


def test_no_metadata_at_all(home: Venv) -> None:
    home.put(FILES)
    assert (found(home).distribution, found(home).version) == (None, None)


def test_a_single_module(home: Venv) -> None:
    home.install("one", "1.0", {"one.py": b"x = 1\n"})
    package = found(home, "one")
    assert package.directory == package.root == str(home.site)
    assert record_digest_matches(package, "one.py", b"x = 1\n") is True


def test_egg_info(home: Venv) -> None:
    home.put(FILES)
    info = home.site / "engine-3.1-py3.8.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: engine\nVersion: 3.1\n")
    (info / "top_level.txt").write_text("engine\n")
    assert (found(home).distribution, found(home).version) == ("engine", "3.1")


def test_the_working_directory_does_not_shadow(
    home: Venv, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.install()
    monkeypatch.chdir(source_tree(tmp_path / "checkout"))
    assert found(home).root == str(home.site)


def test_editable_by_pth(home: Venv, tmp_path: pathlib.Path) -> None:
    tree = source_tree(tmp_path / "src")
    (home.site / "__editable__.engine-1.0.pth").write_text(f"# a comment\n\n{tree}\n")
    home.metadata("engine", "1.0+local", {"__editable__.engine-1.0.pth": b""})
    package = found(home)
    assert (package.root, package.editable, package.version) == (str(tree), True, "1.0+local")
    assert record_digest_matches(package, "engine/model.py", MODEL) is None


def test_editable_by_setuptools_finder(home: Venv, tmp_path: pathlib.Path) -> None:
    tree = source_tree(tmp_path / "src")
    finder = SETUPTOOLS_FINDER.format(mapping={"engine": str(tree / "engine")})
    (home.site / "__editable___engine_1_0_finder.py").write_text(finder)
    (home.site / "__editable__.engine-1.0.pth").write_text(
        "import __editable___engine_1_0_finder; __editable___engine_1_0_finder.install()"
    )
    home.metadata("engine", "1.0", {"__editable__.engine-1.0.pth": b"", "__editable___engine_1_0_finder.py": b""})
    package = found(home)
    assert (package.root, package.editable, package.version) == (str(tree), True, "1.0")


def test_editable_by_the_editables_library(home: Venv, tmp_path: pathlib.Path) -> None:
    tree = source_tree(tmp_path / "src")
    text = EDITABLES_IMPL.format(path=str(tree / "engine" / "__init__.py"))
    (home.site / "_editable_impl_engine.py").write_text(text)
    (home.site / "_engine.pth").write_text("import _editable_impl_engine\n")
    home.metadata("engine-dev", "2.0", {"_engine.pth": b"", "_editable_impl_engine.py": b""})
    package = found(home)
    assert (package.root, package.distribution) == (str(tree), "engine-dev")


def test_editable_owner_by_direct_url(home: Venv, tmp_path: pathlib.Path) -> None:
    tree = source_tree(tmp_path / "a src")
    (home.site / "easy-install.pth").write_text(f"{tree}\n")
    url = '{"url": "file://' + str(tree).replace(" ", "%20") + '", "dir_info": {"editable": true}}'
    home.metadata("engine", "4.0", {}, {"direct_url.json": url})
    assert (found(home).version, found(home).editable) == ("4.0", True)


def test_editable_owner_by_egg_info_in_the_tree(home: Venv, tmp_path: pathlib.Path) -> None:
    tree = source_tree(tmp_path / "src")
    (home.site / "easy-install.pth").write_text(f"{tree}\n")
    info = tree / "engine.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Name: engine\nVersion: 5.0\n")
    (info / "top_level.txt").write_text("engine\n")
    assert (found(home).version, found(home).editable) == ("5.0", True)


def test_a_path_beats_a_finder(home: Venv, tmp_path: pathlib.Path) -> None:
    tree = source_tree(tmp_path / "src")
    (home.site / "__editable___engine_finder.py").write_text(
        SETUPTOOLS_FINDER.format(mapping={"engine": str(tree / "engine")})
    )
    (home.site / "a.pth").write_text("import __editable___engine_finder; __editable___engine_finder.install()\n")
    home.install()
    assert found(home).root == str(home.site)


def test_an_editable_install_whose_tree_has_moved(home: Venv, tmp_path: pathlib.Path) -> None:
    (home.site / "__editable___engine_finder.py").write_text(
        SETUPTOOLS_FINDER.format(mapping={"engine": str(tmp_path / "gone" / "engine")})
    )
    (home.site / "a.pth").write_text("import __editable___engine_finder; __editable___engine_finder.install()\n")
    with pytest.raises(Refused, match="has moved"):
        find_package(probe(home.python), "engine")


def test_a_pth_line_to_nowhere_is_ignored(home: Venv) -> None:
    home.install()
    (home.site / "a.pth").write_text("/nowhere/at/all\n")
    assert found(home).root == str(home.site)


def test_the_first_of_two_copies_with_a_note(home: Venv, tmp_path: pathlib.Path) -> None:
    home.install()
    (home.site / "z.pth").write_text(f"{source_tree(tmp_path / 'second')}\n")
    package = found(home)
    assert package.root == str(home.site)
    assert package.notes == [f"{tmp_path}/second/engine is another copy of engine, shadowed by {home.site}/engine"]


def test_a_leftover_does_not_hide_a_later_package(home: Venv, tmp_path: pathlib.Path) -> None:
    (home.site / "engine" / "__pycache__").mkdir(parents=True)
    (home.site / "z.pth").write_text(f"{source_tree(tmp_path / 'second')}\n")
    package = found(home)
    assert package.root == str(tmp_path / "second")
    assert "leftover" in package.notes[0]


def test_a_leftover_alone(home: Venv) -> None:
    (home.site / "engine").mkdir()
    (home.site / "engine" / "model.py.bak").write_text("")
    with pytest.raises(Refused, match="empty namespace package. Remove that folder"):
        find_package(probe(home.python), "engine")


def test_a_zip(home: Venv, tmp_path: pathlib.Path) -> None:
    with zipfile.ZipFile(tmp_path / "engine.egg", "w") as archive:
        archive.writestr("engine/__init__.py", "")
    (home.site / "easy-install.pth").write_text(f"{tmp_path / 'engine.egg'}\n")
    with pytest.raises(Refused, match="zip archive; install it unpacked"):
        find_package(probe(home.python), "engine")


@pytest.mark.parametrize("path", ["engine/__init__.pyc", "engine.pyc"])
def test_bytecode_only(home: Venv, path: str) -> None:
    home.put({path: b""})
    with pytest.raises(Refused, match="install a release with its sources"):
        find_package(probe(home.python), "engine")


def test_not_installed_names_where_it_looked(home: Venv) -> None:
    with pytest.raises(NotInstalled, match=f"has no package 'engine': looked in {home.site}"):
        find_package(probe(home.python), "engine")


@pytest.mark.parametrize("name", ["", "a.b", "../engine", "engine/x", "1engine", "en gine"])
def test_not_a_package_name(home: Venv, name: str) -> None:
    with pytest.raises(BadInput, match="top-level import package"):
        find_package(probe(home.python), name)


def test_links_are_reported(home: Venv, tmp_path: pathlib.Path) -> None:
    tree = source_tree(tmp_path / "elsewhere")
    (home.site / "engine").symlink_to(tree / "engine")
    home.metadata("engine", "1.0", FILES)
    package = find_package(probe(home.python), "engine")
    assert package.links == [f"{home.site}/engine -> {tree}/engine"]
    assert package.version == "1.0"


def test_site_packages_itself_is_a_link(home: Venv, tmp_path: pathlib.Path) -> None:
    home.install()
    home.site.rename(tmp_path / "moved")
    home.site.symlink_to(tmp_path / "moved")
    package = find_package(probe(home.python), "engine")
    assert package.links == [f"{home.site} -> {tmp_path}/moved"]
