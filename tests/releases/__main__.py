# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Command line: list, fetch, path, copy, pin. Run as scripts/releases, or python -m releases from tests/."""

from __future__ import annotations

import argparse
import hashlib
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

from . import Release, ReleaseError, _cache, _pins
from ._index import Index
from ._ranges import RemoteFile

LARGE = 200_000_000


def parse(text: str) -> tuple[str, str]:
    name, sep, version = text.partition("==")
    if not (name and sep and version):
        raise argparse.ArgumentTypeError(f"want NAME==VERSION, got {text!r}")
    return name, version


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="releases", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the releases of releases.toml, and whether each is in the cache")
    fetch = commands.add_parser("fetch", help="put releases into the cache (default: all that are not on request)")
    fetch.add_argument("release", nargs="*", type=parse)
    fetch.add_argument("--again", action="store_true", help="replace what the cache has")
    path = commands.add_parser("path", help="print the folder of a release, fetching it if need be")
    path.add_argument("release", type=parse)
    copy = commands.add_parser("copy", help="copy a release into a site-packages folder")
    copy.add_argument("release", type=parse)
    copy.add_argument("dest", type=Path)
    copy.add_argument("--hardlink", action="store_true", help="share inodes with the cache")
    pin = commands.add_parser("pin", help="add releases to releases.toml")
    pin.add_argument("release", nargs="+", type=parse)
    pin.add_argument("--package", help="import package (default: as the last pin of that name, else the name)")
    pin.add_argument("--wheel", action="store_true", help="prefer a wheel to the source archive")
    pin.add_argument("--on-request", action="store_true", help="leave it out of a plain fetch")
    args = parser.parse_args(argv)
    try:
        if args.command == "list":
            show()
        elif args.command == "fetch":
            wanted = args.release or [(r.name, r.version) for r in _pins.pinned() if not r.on_request]
            for name, version in wanted:
                _cache.tree(name, version, again=args.again)
        elif args.command == "path":
            print(_cache.tree(*args.release))
        elif args.command == "copy":
            name, version = args.release
            print(_cache.copy_tree(name, version, args.dest, hardlink=args.hardlink))
        else:
            for name, version in args.release:
                add_pin(name, version, args.package, wheel=args.wheel, on_request=args.on_request)
    except ReleaseError as exc:
        print(f"releases: {exc}", file=sys.stderr)
        return 1
    return 0


def show() -> None:
    for release in _pins.pinned():
        target = _cache.cache_root() / "trees" / _cache.LAYOUT / release.folder
        print(f"{release!s:28} {'cached' if target.exists() else '-':7} {release.file}")


def add_pin(name: str, version: str, package: str | None, *, wheel: bool, on_request: bool) -> None:
    """Pin the source archive, or the smallest wheel where that is preferred or all there is."""
    pins = _pins.pinned()
    same = [pin for pin in pins if pin.name == name]
    package = package or (same[-1].package if same else name)
    with Index() as index:
        links = index.links(name, version)
        wheels = sorted((link for link in links if link.is_wheel), key=lambda link: (index.size(link), link.filename))
        sdists = [link for link in links if link.filename.endswith(".tar.gz")]
        ranked = [*wheels, *sdists] if wheel else [*sdists, *wheels]
        if not ranked:
            raise ReleaseError(f"the package index has no archive of {name}=={version}. {index.advice(name, version)}")
        link = ranked[0]
        release = Release(name, version, package, link.filename, on_request=on_request)
        if link.is_wheel and index.size(link) > LARGE:
            with zipfile.ZipFile(RemoteFile(index, link)) as remote:
                record = remote.read(f"{release.dist_info}/RECORD")
            release = replace(release, record_sha256=hashlib.sha256(record).hexdigest())
        else:
            digest = (link.hashes or {}).get("sha256") or (link.hash if link.hash_name == "sha256" else None)
            if not digest:
                raise ReleaseError(f"the package index gives no sha256 for {link.filename}")
            release = replace(release, sha256=digest)
    _pins.save([pin for pin in pins if (pin.name, pin.version) != (name, version)] + [release])
    print(f"{release}: {release.file}")


if __name__ == "__main__":
    sys.exit(main())
