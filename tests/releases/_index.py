# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find an archive on the package index that pip is configured for, and read it."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import logging
import os
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

import httpx2
from unearth import Link, PackageFinder
from unearth.auth import MultiDomainBasicAuth
from unearth.fetchers import Fetcher
from unearth.fetchers.sync import PyPIClient

from ._errors import ReleaseError

T = TypeVar("T")

DEFAULT_INDEX = "https://pypi.org/simple"
TRIES = 4
PAUSE = 1.0
CHUNK = 1 << 16


def pip_options() -> dict[str, str]:
    """What pip would use: its configuration files and PIP_* variables, as pip itself reports them."""
    commands = [[sys.executable, "-m", "pip"]]
    commands += [[found] for found in map(shutil.which, ("pip3", "pip")) if found]
    for command in commands:
        shown = subprocess.run([*command, "config", "list"], capture_output=True, text=True, check=False)
        if shown.returncode == 0:
            break
    else:
        raise ReleaseError("no pip here to ask for the package index; run: make setup")
    by_section: dict[str, dict[str, str]] = {}
    for line in shown.stdout.splitlines():
        if "=" not in line:
            continue
        key, value = line.split("=", 1)
        section, option = key.rsplit(".", 1)
        with contextlib.suppress(ValueError, SyntaxError):
            by_section.setdefault(section, {})[option] = str(ast.literal_eval(value))
    options: dict[str, str] = {}
    for section in ("global", "download", ":env:"):
        options.update(by_section.get(section, {}))
    return options


class _Warnings(logging.Handler):
    """unearth logs a failing index and goes on; keep what it said for the error message."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


class Index:
    """The configured indexes, through one HTTP client. Use as a context manager."""

    def __init__(self) -> None:
        options = pip_options()
        self.urls = [options.get("index-url", DEFAULT_INDEX), *options.get("extra-index-url", "").split()]
        if options.get("no-index", "").lower() in ("1", "true", "yes", "on"):
            self.urls = []
        self.find_links = [
            place for place in options.get("find-links", "").split() if "://" in place or os.path.exists(place)
        ]
        if not self.urls and not self.find_links:
            raise ReleaseError("pip is configured with no-index and without find-links: there is nowhere to look")
        hosts = options.get("trusted-host", "").split()
        cert = options.get("cert")
        self.client = PyPIClient(
            trusted_hosts=hosts,
            verify=ssl.create_default_context(cafile=cert) if cert else True,
            cert=options.get("client-cert"),
            timeout=float(options.get("timeout") or options.get("default-timeout") or 60),
            follow_redirects=True,
            proxy=options.get("proxy"),
        )
        self.client.auth = MultiDomainBasicAuth(index_urls=self.urls)
        self.finder = PackageFinder(
            cast(Fetcher, self.client),
            index_urls=self.urls,
            find_links=self.find_links,
            trusted_hosts=hosts,
            ignore_compatibility=True,
        )

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exc: object) -> None:
        self.client.close()

    def links(self, name: str, version: str) -> list[Link]:
        """Every archive of that version; empty when the index answers but has none."""
        warnings = _Warnings()
        logger = logging.getLogger("unearth")
        logger.addHandler(warnings)
        logger.propagate = False
        try:
            found = self._retry(
                f"look up {name}=={version}",
                lambda: list(self.finder.find_matches(f"{name}=={version}", allow_yanked=True)),
            )
        finally:
            logger.removeHandler(warnings)
            logger.propagate = True
        if not found and warnings.messages:
            raise ReleaseError(
                f"cannot look up {name}=={version}: " + "; ".join(warnings.messages) + f". {self.advice(name, version)}"
            )
        return [package.link for package in found]

    def link(self, name: str, version: str, file: str) -> Link:
        """The archive with exactly that file name."""
        links = self.links(name, version)
        for link in links:
            if link.filename == file:
                return link
        raise ReleaseError(
            f"the package index has no {file} (it has {', '.join(sorted(link.filename for link in links)) or 'nothing'}"
            f" for {name}=={version}). {self.advice(name, version)}"
        )

    def download(self, link: Link, target: Path, report: Callable[[int, int], None]) -> str:
        """Write the archive to target; returns its sha256. report(bytes so far, bytes in all or 0)."""

        def once() -> str:
            digest = hashlib.sha256()
            with self.client.get_stream(link.url_without_fragment) as response, target.open("wb") as out:
                response.raise_for_status()
                total = int(response.headers.get("content-length", 0))
                done = 0
                for chunk in response.iter_raw(CHUNK):
                    out.write(chunk)
                    digest.update(chunk)
                    done += len(chunk)
                    report(done, total)
            if total and done != total:
                raise httpx2.ReadError(f"{link.filename} ended after {done} of {total} bytes")
            return digest.hexdigest()

        return self._retry(f"download {link.filename}", once)

    def size(self, link: Link) -> int:
        """Length of the archive in bytes; 0 when the server does not serve ranges of it."""

        def once() -> int:
            response = self.client.head(link.url_without_fragment)
            response.raise_for_status()
            served = response.headers.get("accept-ranges", "") == "bytes"
            return int(response.headers.get("content-length", 0)) if served else 0

        return self._retry(f"look at {link.filename}", once)

    def read_range(self, link: Link, start: int, end: int) -> bytes:
        """Bytes start to end (exclusive) of the archive."""

        def once() -> bytes:
            response = self.client.get(link.url_without_fragment, headers={"Range": f"bytes={start}-{end - 1}"})
            response.raise_for_status()
            if response.status_code != 206 or len(response.content) != end - start:
                raise httpx2.ReadError(f"asked for {end - start} bytes, got {len(response.content)}")
            return response.content

        return self._retry(f"read {link.filename}", once)

    def advice(self, name: str, version: str) -> str:
        """A command that asks the same index the same thing, for the reader of an error."""
        return (
            f"Check the index with: pip download --no-deps --dest /tmp {name}=={version}   "
            f"(indexes: {' '.join(map(_redacted, [*self.urls, *self.find_links]))}; see: pip config list)"
        )

    def _retry(self, what: str, action: Callable[[], T]) -> T:
        for attempt in range(1, TRIES + 1):
            try:
                return action()
            except httpx2.HTTPStatusError as exc:
                failure: Exception = exc
                if exc.response.status_code < 500 and exc.response.status_code != 429:
                    break
            except (httpx2.HTTPError, OSError) as exc:
                failure = exc
            if attempt < TRIES:
                time.sleep(PAUSE * 2**attempt)
        raise ReleaseError(
            f"cannot {what}: {type(failure).__name__}: {failure} "
            f"(indexes: {' '.join(map(_redacted, [*self.urls, *self.find_links]))}; see: pip config list)"
        ) from failure


def _redacted(url: str) -> str:
    return Link(url).redacted if "://" in url else url


@contextlib.contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Tell of a download on stderr, on a terminal as it goes. Yields report(bytes so far, bytes in all or 0)."""
    terminal = sys.stderr.isatty()
    started = last = time.monotonic()
    print(f"  {label} ", end="", file=sys.stderr, flush=True)

    def report(done: int, total: int) -> None:
        nonlocal last
        if terminal and time.monotonic() - last > 0.2:
            last = time.monotonic()
            of = f" of {total / 1e6:.1f}" if total else ""
            print(f"\r  {label} {done / 1e6:.1f}{of} MB ", end="", file=sys.stderr, flush=True)

    end = "failed"
    try:
        yield report
        end = "done"
    finally:
        print(f"{end} after {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)


__all__ = ("Index", "pip_options", "progress")
