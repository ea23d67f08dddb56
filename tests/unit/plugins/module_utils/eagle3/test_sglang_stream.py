# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a pair of carried tensors means, case by case: layers of one look, of which each hands on something else."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Dict, Optional, Tuple

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import sglang
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_stream import adds, entry

NORMS = """
class Adding:
    def forward(self, *args, **kwargs):
        return self.forward_native(*args, **kwargs)

    def forward_native(self, x, residual=None):
        if residual is not None:
            x = x + residual.to(x.dtype)
            residual = x
        return (x, residual) if residual is not None else x


class Passing:
    def forward(self, hidden, residuals=None):
        return hidden * 2, residuals


class Kernel:
    def forward(self, x, residual=None):
        return kernel(x, residual)


class Placeholder:
    def forward(self, *args, **kwargs):
        return args[0]
"""

LAYER = """
class Layer:
    def __init__(self, config):
        self.norm = {norm}()
        self.other = {norm}()
        self.helper = Helper()

    def forward(self, positions, hidden, residual):
{body}
"""

BODIES: Dict[str, Tuple[str, str, str]] = {
    "the usual opening": (
        "Adding",
        """
        if residual is None:
            residual = hidden
            hidden = self.norm(hidden)
        else:
            hidden, residual = self.norm(hidden, residual)
        hidden = self.mlp(hidden)
        return hidden, residual
        """,
        "sum",
    ),
    "the opening under a flag": (
        "Adding",
        """
        if self.skip:
            pass
        else:
            if residual is not None:
                hidden, residual = self.norm(hidden, residual)
            else:
                residual = hidden
                hidden = self.norm(hidden)
        hidden, residual = self.other(hidden, residual)
        return self.mlp(hidden), residual
        """,
        "sum",
    ),
    "what came in is written over": (
        "Adding",
        """
        residual = hidden
        hidden = self.norm(hidden)
        hidden = residual + self.mlp(hidden)
        return hidden, residual
        """,
        "alone",
    ),
    "a norm that only passes the residual on": (
        "Passing",
        """
        residual = hidden
        hidden, residual = self.norm(hidden, residual)
        hidden = residual + self.mlp(hidden)
        return hidden, residual
        """,
        "alone",
    ),
    "written over in one branch, handed on in the other": (
        "Adding",
        """
        if not positions.idle:
            residual = hidden
            hidden = residual + self.mlp(self.norm(hidden))
        return hidden, residual
        """,
        "alone",
    ),
    "one tensor handed on twice": (
        "Adding",
        """
        if residual is None:
            residual = hidden
        hidden = self.mlp(hidden) + residual
        residual = hidden
        return hidden, residual
        """,
        "alone",
    ),
    "no residual handed on": (
        "Adding",
        """
        residual = hidden
        hidden = residual + self.mlp(self.norm(hidden))
        return hidden, None
        """,
        "either",
    ),
    "the residual goes into a sum of the layer's own": (
        "Adding",
        """
        hidden = self.mlp(hidden) + residual
        return hidden, residual
        """,
        "unclear",
    ),
    "the pair goes to somebody else": (
        "Adding",
        """
        hidden, residual = self.helper.prepare(hidden, residual, positions)
        return self.mlp(hidden), residual
        """,
        "unclear",
    ),
    "a norm whose source does not tell": (
        "Kernel",
        """
        if residual is None:
            residual = hidden
            hidden = self.norm(hidden)
        else:
            hidden, residual = self.norm(hidden, residual)
        return self.mlp(hidden), residual
        """,
        "unclear",
    ),
    "the norm gets something else than what came in": (
        "Adding",
        """
        hidden = self.mlp(hidden)
        hidden, residual = self.norm(hidden, residual)
        return hidden, residual
        """,
        "unclear",
    ),
}


def reader(tmp_path: Path, source: str) -> Reader:
    folder = tmp_path / "sglang" / "srt" / "models"
    folder.mkdir(parents=True)
    for place in (tmp_path / "sglang", tmp_path / "sglang" / "srt", folder):
        (place / "__init__.py").write_text("")
    (folder / "one.py").write_text(source)
    return Reader(str(tmp_path))


@pytest.mark.parametrize("norm, body, meaning", list(BODIES.values()), ids=list(BODIES))
def test_how_a_layer_takes_a_pair_in(tmp_path: Path, norm: str, body: str, meaning: str) -> None:
    inside = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    found = reader(tmp_path, NORMS + "class Helper:\n    pass\n\n" + LAYER.format(norm=norm, body=inside))
    module = found.index.module("sglang.srt.models.one")
    assert module is not None
    layer = found.index.resolve(module, "Layer")
    assert layer is not None
    told = entry(found, layer, "hidden", "residual")
    assert told.meaning == meaning
    assert (told.reason is not None) == (meaning == "unclear")


@pytest.mark.parametrize(
    "name, wanted", [("Adding", True), ("Passing", False), ("Kernel", None), ("Placeholder", None)]
)
def test_whether_a_norm_adds(tmp_path: Path, name: str, wanted: Optional[bool]) -> None:
    found = reader(tmp_path, NORMS)
    module = found.index.module("sglang.srt.models.one")
    assert module is not None
    norm = found.index.resolve(module, name)
    assert norm is not None
    assert adds(found, norm) is wanted


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    reader(tmp_path, "class Broken(:\n    pass\nEntryClass = Broken\n")
    entry_of = sglang.derive({"root": str(tmp_path), "architectures": ["Broken"]})["architectures"]["Broken"]
    assert entry_of["state"] == "by_hand"
    assert "sglang/srt/models/one.py does not parse at line 1" in entry_of["reason"]
