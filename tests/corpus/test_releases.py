# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The releases themselves: what the cache holds is what an installer would find, and a failing index leaves nothing."""

from __future__ import annotations

import base64
import csv
import hashlib
import http.server
import importlib.metadata
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import releases
from releases import _cache, _index, _pins

TESTS = Path(__file__).resolve().parent.parent


def urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.mark.parametrize("release", [pin for pin in releases.pinned() if not pin.on_request], ids=str)
def test_a_tree_is_what_an_installer_would_leave(release: releases.Release) -> None:
    tree = releases.tree(release.name, release.version)
    found = list(importlib.metadata.distributions(path=[str(tree)]))
    assert [(dist.metadata["Name"].replace("_", "-"), dist.version) for dist in found] == [
        (release.name, release.version)
    ]
    on_disk = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    with (tree / release.dist_info / "RECORD").open(newline="") as stream:
        record = {row[0]: (row[1], row[2]) for row in csv.reader(stream)}
    assert set(record) == on_disk
    assert record.pop(f"{release.dist_info}/RECORD") == ("", "")
    for path, (digest, size) in record.items():
        data = (tree / path).read_bytes()
        assert (digest, size) == (f"sha256={urlsafe(data)}", str(len(data))), path
    assert f"{release.package}/__init__.py" in record
    assert not any(path.endswith((".so", ".pyc")) for path in record)


def test_pip_lists_a_copied_release(tmp_path: Path) -> None:
    releases.copy_tree("speculators", "0.3.0", tmp_path)
    releases.copy_tree("vllm", "0.16.0", tmp_path)
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "list", "--path", str(tmp_path), "--format", "json"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert {entry["name"]: entry["version"] for entry in json.loads(shown.stdout)} == {
        "speculators": "0.3.0",
        "vllm": "0.16.0",
    }


def test_a_copy_is_writable_and_its_own_and_a_linked_one_is_not(tmp_path: Path) -> None:
    cached = releases.tree("speculators", "0.3.0") / "speculators" / "__init__.py"
    own = releases.copy_tree("speculators", "0.3.0", tmp_path / "own") / "speculators" / "__init__.py"
    linked = releases.copy_tree("speculators", "0.3.0", tmp_path / "linked", hardlink=True)
    assert own.stat().st_ino != cached.stat().st_ino
    assert own.stat().st_mode & 0o200
    assert os.path.samefile(linked / "speculators" / "__init__.py", cached)
    with pytest.raises(releases.ReleaseError, match="already there"):
        releases.copy_tree("speculators", "0.3.0", tmp_path / "own")


def test_an_unknown_release_names_the_known_ones() -> None:
    with pytest.raises(
        releases.ReleaseError, match=r"speculators==9\.9 is not in .*there: 0\.3\.0 .*pin speculators==9"
    ):
        releases.tree("speculators", "9.9")


class Server:
    """A package index on the loopback interface; `before` may answer a request by itself, or spoil it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.before: Callable[[http.server.BaseHTTPRequestHandler], bool] = lambda handler: False
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                server.requests.append(self.path)
                if not server.before(self):
                    server.answer(self)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                """Say nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/simple"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        name = handler.path.strip("/").split("/")[-1]
        if handler.path.startswith("/simple/"):
            links = [
                f'<a href="/files/{file}#sha256={hashlib.sha256(data).hexdigest()}">{file}</a>'
                for file, data in self.files.items()
                if file.startswith(f"{name}-")
            ]
            self.send(handler, 200 if links else 404, "\n".join(links).encode(), "text/html")
        elif name in self.files:
            data = self.files[name]
            wanted = handler.headers.get("Range")
            if wanted:
                start, end = (int(part) for part in wanted.removeprefix("bytes=").split("-"))
                self.send(handler, 206, data[start : end + 1], "application/octet-stream")
            else:
                self.send(handler, 200, data, "application/octet-stream")
        else:
            self.send(handler, 404, b"", "text/plain")

    @staticmethod
    def send(handler: http.server.BaseHTTPRequestHandler, status: int, body: bytes, kind: str) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Accept-Ranges", "bytes")
        handler.end_headers()
        if handler.command == "GET":
            handler.wfile.write(body)

    def downloads(self) -> int:
        return sum(path.startswith("/files/") for path in self.requests)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def sdist(name: str, version: str, files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        everything = {"PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(), **files}
        for path, data in everything.items():
            info = tarfile.TarInfo(f"{name}-{version}/{path}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def wheel(name: str, version: str, files: dict[str, bytes]) -> tuple[bytes, str]:
    """The archive, and the sha256 of its RECORD."""
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()}
    record = "".join(f"{path},sha256={urlsafe(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return out.getvalue(), hashlib.sha256(files[f"{info}/RECORD"]).hexdigest()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """An index of our own, an empty cache, and a pin file that names engine==1.0 as the index has it."""
    server = Server()
    server.files["engine-1.0.tar.gz"] = sdist("engine", "1.0", {"engine/__init__.py": b"x = 1\n", "setup.py": b"no\n"})
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_index, "PAUSE", 0.01)
    monkeypatch.setattr(_pins, "PINS", tmp_path / "releases.toml")
    pin(server, "engine", "1.0", "engine-1.0.tar.gz")
    yield server
    server.close()


def pin(server: Server, name: str, version: str, file: str, record_sha256: str = "") -> None:
    digest = "" if record_sha256 else hashlib.sha256(server.files[file]).hexdigest()
    _pins.PINS.touch()
    _pins.save([_pins.Release(name, version, name, file, digest, record_sha256)])


def leftovers() -> list[str]:
    trees = _cache.cache_root() / "trees" / _cache.LAYOUT
    return sorted(path.name for path in trees.iterdir()) if trees.exists() else []


def test_a_source_archive_is_fetched_once(index: Server) -> None:
    tree = releases.tree("engine", "1.0")
    assert (tree / "engine" / "__init__.py").read_bytes() == b"x = 1\n"
    assert not (tree / "setup.py").exists()
    _cache.forget()
    assert releases.tree("engine", "1.0") == tree
    assert index.downloads() == 1


def test_a_wheel_is_read_in_parts_and_checked(index: Server) -> None:
    big = os.urandom(3_000_000)
    files = {"engine/__init__.py": b"y = 1\n", "engine/lib.so": big, "engine/z.py": b"z = 1\n"}
    index.files["engine-2.0-py3-none-any.whl"], record = wheel("engine", "2.0", files)
    pin(index, "engine", "2.0", "engine-2.0-py3-none-any.whl", record)
    sent: list[int] = []

    def count(handler: http.server.BaseHTTPRequestHandler) -> bool:
        sent.append(span(handler))
        return False

    index.before = count
    tree = releases.tree("engine", "2.0")
    assert (tree / "engine" / "z.py").read_bytes() == b"z = 1\n"
    assert not (tree / "engine" / "lib.so").exists()
    assert sum(sent) < len(big)
    pin(index, "engine", "2.0", "engine-2.0-py3-none-any.whl", "0" * 64)
    with pytest.raises(releases.ReleaseError, match="its RECORD is not the one named"):
        releases.tree("engine", "2.0", again=True)


def span(handler: http.server.BaseHTTPRequestHandler) -> int:
    wanted = handler.headers.get("Range")
    if not wanted or handler.command != "GET":
        return 0
    start, end = (int(part) for part in wanted.removeprefix("bytes=").split("-"))
    return end + 1 - start


def test_a_wheel_whose_file_differs_from_its_record_is_refused(index: Server) -> None:
    data, record = wheel("engine", "2.0", {"engine/__init__.py": b"y = 1\n"})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for path in old.namelist():
            new.writestr(path, b"y = 2\n" if path.endswith(".py") else old.read(path))
    index.files["engine-2.0-py3-none-any.whl"] = out.getvalue()
    pin(index, "engine", "2.0", "engine-2.0-py3-none-any.whl", record)
    with pytest.raises(releases.ReleaseError, match="engine/__init__.py differs from the wheel's own RECORD"):
        releases.tree("engine", "2.0")
    assert leftovers() == []


def test_another_file_under_the_same_name_is_refused(index: Server) -> None:
    index.files["engine-1.0.tar.gz"] = sdist("engine", "1.0", {"engine/__init__.py": b"x = 2\n"})
    with pytest.raises(releases.ReleaseError, match=r"releases\.toml says .*: not used"):
        releases.tree("engine", "1.0")
    assert leftovers() == []


def test_a_download_that_breaks_off_is_tried_again(index: Server) -> None:
    broken: list[str] = []

    def once(handler: http.server.BaseHTTPRequestHandler) -> bool:
        if broken or not handler.path.startswith("/files/"):
            return False
        broken.append(handler.path)
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        handler.wfile.write(b"half")
        handler.close_connection = True
        return True

    index.before = once
    assert releases.tree("engine", "1.0").is_dir()
    assert broken and index.downloads() == 2


@pytest.mark.parametrize(
    ("status", "says"), [(404, "404"), (401, "401"), (503, "503")], ids=["missing", "forbidden", "unavailable"]
)
def test_a_failing_index_is_named_with_a_command_and_no_secret(
    index: Server, monkeypatch: pytest.MonkeyPatch, status: int, says: str
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("//", "//someone:secret@"))
    monkeypatch.setenv("PIP_NO_INPUT", "1")

    def refuse(handler: http.server.BaseHTTPRequestHandler) -> bool:
        index.send(handler, status, b"", "text/html")
        return True

    index.before = refuse
    with pytest.raises(releases.ReleaseError) as failure:
        releases.tree("engine", "1.0")
    message = str(failure.value)
    assert "engine==1.0" in message
    assert says in message
    assert "pip download --no-deps --dest /tmp engine==1.0" in message
    assert "pip config list" in message
    assert "secret" not in message
    assert leftovers() == []


def test_an_index_that_is_not_there_is_named(index: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(releases.ReleaseError, match=r"cannot look up engine==1\.0: .*127\.0\.0\.1:9"):
        releases.tree("engine", "1.0")


def test_a_version_that_the_index_lacks_lists_what_it_has(index: Server) -> None:
    data = index.files.pop("engine-1.0.tar.gz")
    index.files["engine-1.0.zip"] = data
    with pytest.raises(releases.ReleaseError, match=r"has no engine-1\.0\.tar\.gz \(it has engine-1\.0\.zip for"):
        releases.tree("engine", "1.0")


def test_find_links_without_an_index_is_enough(index: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "engine-1.0.tar.gz").write_bytes(index.files["engine-1.0.tar.gz"])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    assert (releases.tree("engine", "1.0") / "engine").is_dir()
    assert index.requests == []


def test_a_changed_cache_is_found_out(index: Server) -> None:
    tree = releases.tree("engine", "1.0")
    _cache.forget()
    (tree / "engine" / "__init__.py").chmod(0o644)
    (tree / "engine" / "__init__.py").write_bytes(b"x = 3\n")
    with pytest.raises(releases.ReleaseError, match=r"changed by someone: engine/__init__\.py\. Get it anew with: "):
        releases.tree("engine", "1.0")
    assert (releases.tree("engine", "1.0", again=True) / "engine" / "__init__.py").read_bytes() == b"x = 1\n"


FETCH = """
import sys
from pathlib import Path
from releases import _pins, tree
_pins.PINS = Path(sys.argv[1])
print(tree("engine", "1.0"))
"""


def fetch_in_a_process() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, str(_pins.PINS)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def test_a_killed_download_leaves_nothing_that_counts(index: Server) -> None:
    going = threading.Event()
    stop = threading.Event()

    def slow(handler: http.server.BaseHTTPRequestHandler) -> bool:
        if not handler.path.startswith("/files/"):
            return False
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        handler.wfile.write(b"half")
        going.set()
        stop.wait(30)
        handler.close_connection = True
        return True

    index.before = slow
    with fetch_in_a_process() as process:
        assert going.wait(30)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    stop.set()
    assert leftovers() == [".making-engine-1.0"]
    index.before = lambda handler: False
    assert (releases.tree("engine", "1.0") / "engine").is_dir()
    assert leftovers() == ["engine-1.0"]


def test_two_processes_fetch_a_release_once(index: Server) -> None:
    def slowly(handler: http.server.BaseHTTPRequestHandler) -> bool:
        time.sleep(0.3)
        return False

    index.before = slowly
    with fetch_in_a_process() as one, fetch_in_a_process() as two:
        told = {one.communicate(timeout=60)[0], two.communicate(timeout=60)[0]}
        assert (one.returncode, two.returncode) == (0, 0)
    assert told == {f"{_cache.cache_root()}/trees/{_cache.LAYOUT}/engine-1.0\n".encode()}
    assert index.downloads() == 1
