# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to an inference server: no proxy, no redirect, no second try.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import http.client
import json
import typing as t
from urllib.parse import SplitResult, urlsplit

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, SpecdecError

_BODY_SHOWN = 300


class NoAnswer(SpecdecError):
    """The server could not be asked, or its answer is no success. ``status`` is 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message, status=status)
        self.status = status


def connect(parts: SplitResult, timeout: float) -> http.client.HTTPConnection:
    """A connection, not open yet, to the server of a URL that was checked."""
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=timeout)


class Server:
    """One server by its URL, and the key it wants."""

    def __init__(self, url: str, key: str | None = None, timeout: float = 30) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
            raise BadInput(f"url is {url!r}: it must be http://host:port or https://host:port")
        if parts.username is not None:
            raise BadInput("url has a user name in it: name the file of the key in api_key_file instead")
        self.url = url.rstrip("/")
        self._parts = parts
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._timeout = timeout

    def open(self, path: str, body: t.Any = None) -> t.Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """The connection, to be closed by the caller, and a successful answer to be read."""
        connection = connect(self._parts, self._timeout)
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode("utf-8")
            headers["Content-Type"] = "application/json"
        try:
            place = self._parts.path.rstrip("/") + path
            connection.request("GET" if data is None else "POST", place, body=data, headers=headers)
            answer = connection.getresponse()
            if answer.status == 200:
                return connection, answer
            said = " ".join(answer.read(2000).decode("utf-8", "replace").split())[:_BODY_SHOWN]
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NoAnswer(f"{self.url}{path}: {type(error).__name__}: {error}") from error
        connection.close()
        raise NoAnswer(f"{self.url}{path}: status {answer.status}: {said or 'nothing said'}", answer.status)

    def text(self, path: str) -> str:
        connection, answer = self.open(path)
        try:
            return answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"{self.url}{path}: {type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def json(self, path: str) -> t.Any:
        text = self.text(path)
        try:
            return json.loads(text)
        except ValueError:
            raise NoAnswer(f"{self.url}{path}: the answer is not JSON: {text[:_BODY_SHOWN]!r}") from None


def is_key(text: str) -> bool:
    """Whether a text can be a key: one word that a header can carry."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def read_key(path: str | None) -> str | None:
    """The key in the file, or None where no file is named. The key is never part of a message."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as stream:
            key = stream.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"api_key_file {path} cannot be read: {type(error).__name__}") from error
    if not is_key(key):
        raise BadInput(f"api_key_file {path} must hold one key on one line and nothing else")
    return key


__all__ = ("NoAnswer", "Server", "connect", "is_key", "read_key")
