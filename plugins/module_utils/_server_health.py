# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Health and models of an inference server over HTTP, within a time.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import http.client
import json
import threading
import typing as t
import urllib.parse

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._server_http import connect

_MOST = 4 << 20
_REFUSED = (401, 403)
Answer = t.Tuple[t.Optional[int], bytes, t.Optional[str]]


class Health:
    """A server's two facts. Proxies are not used and redirects not followed: the key goes nowhere else."""

    def __init__(self, url: str, *, timeout: float, key: str | None = None) -> None:
        self._parts = _parsed(url)
        self._timeout = timeout
        self._headers = {"Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"

    def health(self) -> dict[str, t.Any]:
        """``ok``, the HTTP ``status``, and the ``reason`` when it is not ok."""
        status, body, reason = self._get("/health")
        if status == 200:
            return {"ok": True, "status": status, "reason": None}
        if status is not None:
            said = " ".join(body.decode("utf-8", "replace").split())[:200]
            reason = f"HTTP {status}" + (f": {said}" if said else "")
        return {"ok": False, "status": status, "reason": reason}

    def models(self) -> tuple[list[str] | None, str | None]:
        """The ids that the server answers to, or None and why."""
        status, body, reason = self._get("/v1/models")
        if status is None:
            return None, reason
        if status in _REFUSED:
            return None, f"/v1/models: HTTP {status}: the server wants an API key, or another one than it was given"
        if status != 200:
            return None, f"/v1/models: HTTP {status}"
        try:
            return [str(model["id"]) for model in json.loads(body.decode("utf-8"))["data"]], None
        except (ValueError, KeyError, TypeError):
            return None, "/v1/models does not answer with a list of models: another program listens there"

    def _get(self, path: str) -> Answer:
        """Status, body, and why there is none. A socket's timeout is for each read, and a name's look-up has none."""
        answer: list[Answer] = []

        def ask() -> None:
            answer.append(self._ask(path))

        worker = threading.Thread(target=ask, daemon=True)
        worker.start()
        worker.join(self._timeout + 1)
        return answer[0] if answer else (None, b"", f"no whole answer within {self._timeout:g} s")

    def _ask(self, path: str) -> Answer:
        parts = self._parts
        try:
            connection = connect(parts, self._timeout)
        except (OSError, http.client.HTTPException) as error:
            return None, b"", str(error)
        try:
            connection.request("GET", parts.path.rstrip("/") + path, headers=self._headers)
            response = connection.getresponse()
            return response.status, response.read(_MOST), None
        except ConnectionRefusedError:
            return None, b"", "nothing listens there: the connection was refused"
        except OSError as error:
            timed_out = isinstance(error, TimeoutError) or "timed out" in str(error)
            return None, b"", f"no answer within {self._timeout:g} s" if timed_out else str(error)
        except (http.client.HTTPException, ValueError) as error:
            return None, b"", f"not an HTTP server: {type(error).__name__}: {str(error)[:100]}"
        finally:
            connection.close()


def _parsed(url: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or "@" in parts.netloc or parts.query or parts.fragment or not url.isascii() or " " in url:
        raise BadInput(
            "'url' must be the address of the server alone, such as http://127.0.0.1:8000, without user, password, "
            f"query or fragment; found {_without_user(url)!r}"
        )
    return parts


def _without_user(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    return scheme + separator + rest.rpartition("@")[2]


__all__ = ("Answer", "Health")
