# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the image of the test hosts from Debian packages, without any registry, and print its name.

mmdebstrap reads the machine's own apt sources, so a mirror or proxy set up there is used. The image is kept in podman's
storage under the digest of everything that it is made of; while that stays the same, nothing is built.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

REPOSITORY = "localhost/specdec-blackwell-host"
SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
RECIPE = Path(__file__).resolve().parents[1] / "molecule" / "shared" / "image"
# Units that only cost start-up time in a container.
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "console-getty.service", "e2scrub_all.timer", "getty.target")
INDEX_FORMAT = "$(CREATED_BY)|$(ORIGIN)|$(CODENAME)|$(SITE)|$(RELEASE)|$(COMPONENT)"


def packages(recipe: Path = RECIPE) -> list[str]:
    """Names listed in the recipe."""
    lines = (recipe / "packages.txt").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def digest(recipe: Path = RECIPE) -> str:
    """12 hex digits that change with anything the image is made of."""
    state = hashlib.sha256()
    for path in [Path(__file__), *sorted(recipe.iterdir())]:
        state.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()[:12]


def sources(indexes: Iterable[str], suite: str = SUITE) -> list[str]:
    """sources.list lines for the suite, from lines of `apt-get indextargets`; Debian's own mirror if it has none."""
    found = []
    for line in indexes:
        created_by, origin, codename, site, release, component = line.strip().split("|")
        if created_by == "Packages" and origin == "Debian" and codename.split("-")[0] == suite:
            entry = f"deb {site} {release} {component}"
            if entry not in found:
                found.append(entry)
    if any(entry.split()[2] == suite for entry in found):
        return found
    return [f"deb {MIRROR} {suite} main"]


def machine_sources() -> list[str]:
    """Sources in force on this machine."""
    try:
        said = subprocess.run(
            ["apt-get", "indextargets", "--format", INDEX_FORMAT], capture_output=True, text=True, check=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return sources([])
    return sources(said.stdout.splitlines())


def bootstrap_command(recipe: Path, entries: list[str], settings: Path | None) -> list[str]:
    """mmdebstrap's arguments; the tree comes out as a tar stream."""
    command = ["mmdebstrap", "--variant=minbase", "--format=tar", "--include=" + ",".join(packages(recipe))]
    if settings is not None:
        command.append(f"--aptopt={settings}")
    hooks = [
        f"upload {recipe}/sshd.conf /etc/ssh/sshd_config.d/50-specdec.conf",
        f"upload {recipe}/ssh-host-keys.service /etc/systemd/system/ssh-host-keys.service",
        'chroot "$1" systemctl enable ssh-host-keys.service',
        'chroot "$1" systemctl mask {}'.format(" ".join(MASKED)),
        'chroot "$1" usermod --shell /bin/zsh root',
        # Each container makes its own.
        'rm -f "$1"/etc/ssh/ssh_host_*',
        ': > "$1"/etc/machine-id',
    ]
    command += ["--customize-hook=" + hook for hook in hooks]
    return [*command, SUITE, "-", *entries]


def proxy_settings(directory: Path) -> Path | None:
    """A file with the proxies that this machine's apt uses, or None without any."""
    said = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False)
    lines = [line for line in said.stdout.splitlines() if line.startswith("Acquire::http") and "::Proxy" in line]
    if not lines:
        return None
    path = directory / "proxies.conf"
    path.write_text("\n".join(lines) + "\n")
    return path


def exists(name: str) -> bool:
    return subprocess.run(["podman", "image", "exists", name], check=False).returncode == 0


def drop_others(name: str) -> None:
    """Remove images made from earlier recipes; one that a container still uses stays."""
    listing = ["podman", "images", "--format", "{{.Repository}}:{{.Tag}}", "--filter", f"reference={REPOSITORY}"]
    said = subprocess.run(listing, capture_output=True, text=True, check=True)
    for other in said.stdout.split():
        if other != name:
            subprocess.run(["podman", "rmi", other], capture_output=True, check=False)


def build(name: str, recipe: Path = RECIPE) -> None:
    """Make the image and import it. Raises CalledProcessError with the failed tool's output already on stderr."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="specdec-image-") as folder:
        tree = Path(folder) / "tree.tar"
        command = bootstrap_command(recipe, machine_sources(), proxy_settings(Path(folder)))
        with tree.open("wb") as stream:
            subprocess.run(command, stdout=stream, check=True)
        subprocess.run(
            ["podman", "import", "--quiet", "--change", 'CMD ["/sbin/init"]', str(tree), name],
            stdout=subprocess.DEVNULL,
            check=True,
        )
    print(f"{name} made in {time.monotonic() - started:.0f} s", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make the image of the test hosts if need be, and print its name.")
    parser.add_argument("--rebuild", action="store_true", help="make it again, with the packages of today")
    options = parser.parse_args(argv)
    name = f"{REPOSITORY}:{digest()}"
    lock = Path(tempfile.gettempdir()) / f"specdec-image-{os.getuid()}.lock"
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if options.rebuild or not exists(name):
            try:
                build(name)
            except subprocess.CalledProcessError as error:
                print(f"The image cannot be made: {error.cmd[0]} ended with {error.returncode}", file=sys.stderr)
                return 1
            drop_others(name)
    print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
