# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ansible-test on a copy of the working tree: scripts/run_ansible_test.py sanity|units|... [arguments].

ansible-test wants the collection at a real path that ends in ansible_collections/specdec/blackwell, so the files that
git tracks, or would track, are copied below build/ (only what changed). It also wants two things from the network that
not every network has: pip's bootstrap script from a host of its own, and it drops all PIP_* settings on the way. Both
are solved by a home folder of its own, below build/ too: with pip's settings as they are here, and with a bootstrap
script that uses the pip that comes with Python.
"""

from __future__ import annotations

import fcntl
import filecmp
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "ansible_collections" / "specdec" / "blackwell"
HOME = ROOT / "build" / "home"
# The link points back at the tree; ansible-test would walk in circles.
LEFT_OUT = (".collections/",)
KEPT_IN_COPY = (".git", "tests/output")

GET_PIP = '''"""Install the given packages with the pip that comes with Python; takes get-pip.py's arguments."""
import subprocess
import sys

subprocess.check_call([sys.executable, "-m", "ensurepip", "--default-pip"], stdout=subprocess.DEVNULL)
arguments = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", "-qq", *arguments]))
'''


def tracked() -> list[str]:
    """Paths that git tracks or would track, as they are in the working tree."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return [
        path
        for path in sorted(set(os.fsdecode(listing.stdout).split("\0")))
        if path and not path.startswith(LEFT_OUT) and os.path.lexists(ROOT / path)
    ]


def sync() -> None:
    """Make COPY equal to the working tree; unchanged files keep their times. One process at a time."""
    COPY.mkdir(parents=True, exist_ok=True)
    with (ROOT / "build" / "copy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sync_locked()


def sync_locked() -> None:
    wanted = set(tracked())
    for folder, _dirs, files in os.walk(COPY, topdown=False):
        here = Path(folder).relative_to(COPY).as_posix()
        if here.startswith(KEPT_IN_COPY):
            continue
        for file in files:
            if f"{here}/{file}".removeprefix("./") not in wanted:
                os.unlink(Path(folder, file))
        if folder != str(COPY) and not os.listdir(folder):
            os.rmdir(folder)
    for path in wanted:
        source, target = ROOT / path, COPY / path
        same = target.is_file() and not target.is_symlink() and not source.is_symlink()
        if same and filecmp.cmp(source, target, shallow=False) and source.stat().st_mode == target.stat().st_mode:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(target):
            os.unlink(target)
        shutil.copy2(source, target, follow_symlinks=False)
    if not (COPY / ".git").exists():
        # ansible-test asks git for the files; the repository around the copy would say that all of it is ignored.
        subprocess.run(["git", "init", "--quiet", str(COPY)], check=True)


def pip_output(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "pip", *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def prepare_home() -> None:
    """pip's settings and its bootstrap script, where ansible-test and the pip that it starts look for them."""
    spec = find_spec("ansible_test")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("run_ansible_test.py: ansible-core is not installed here; run: make setup")
    util = Path(spec.submodule_search_locations[0], "_internal", "python_requirements.py").read_text(encoding="utf-8")
    versions = set(re.findall(r"""['"]?pip['"]?\s*[:=]\s*['"](\d+(?:\.\d+)+)['"]""", util))
    if not versions:
        sys.exit("run_ansible_test.py: this ansible-core does not say which pip it bootstraps; see prepare_home()")
    cache = HOME / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in versions:
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(GET_PIP, encoding="utf-8")

    sys.path.insert(0, str(ROOT / "tests"))
    from releases import pip_options

    options = {**pip_options(), "cache-dir": pip_output("cache", "dir"), "quiet": "2"}
    config = HOME / ".config" / "pip" / "pip.conf"
    config.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key} = " + "\n    ".join(value.split()) for key, value in sorted(options.items())]
    config.touch(mode=0o600)
    config.write_text("[global]\n" + "\n".join(lines) + "\n", encoding="utf-8")


def link_pythons() -> Path:
    """A folder with each Python that starts as python3.X: ansible-test takes the first of that name on PATH."""
    links = HOME / "bin"
    shutil.rmtree(links, ignore_errors=True)
    links.mkdir(parents=True)
    found = subprocess.run(
        ["bash", "-c", "source scripts/lib.sh && pythons"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for line in found.splitlines():
        version, python = line.split(" ", 1)
        (links / f"python{version}").symlink_to(python)
    return links


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    sync()
    prepare_home()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ANSIBLE_", "XDG_CONFIG_"))}
    path = [str(Path(sys.executable).parent), str(link_pythons())]
    path += [folder for folder in os.environ["PATH"].split(os.pathsep) if not folder.endswith("/shims")]
    environment.update(HOME=str(HOME), PATH=os.pathsep.join(path))
    command = [str(Path(sys.executable).with_name("ansible-test")), *arguments]
    return subprocess.run(command, cwd=COPY, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
