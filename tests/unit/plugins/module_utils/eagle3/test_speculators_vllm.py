# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names and calls of one package held against the source of another."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Optional, Set

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import Index
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._speculators_vllm import (
    find,
    interface_notes,
    signature,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source

ENGINE: Dict[str, str] = {
    "__init__.py": "",
    "plain.py": """
def call(a, b=1, *, c, d=None):
    pass


def loose(a, **more):
    pass


class Built:
    def __init__(self, x, y=2):
        pass


@dataclass
class Config:
    first: int
    second: InitVar[bool]
    shared: ClassVar[int] = 3
    made: int = field(init=False)
    third: int = Field(default=1)


class Inherited(Built):
    fourth: int


LIMIT = 4
try:
    from .other import moved
except ImportError:
    moved = None
""",
    "other.py": "def moved(z):\n    pass\n",
    "again.py": "from .plain import Built as Renamed, call\nfrom .other import *\n",
    "lazy.py": "def __getattr__(name):\n    return 1\n",
    "broken.py": "def (:\n",
    "folder/__init__.py": "from torch import Tensor\n",
    "folder/inner.py": "",
}


@pytest.fixture
def index(tmp_path: Path) -> Index:
    for name, text in ENGINE.items():
        path = tmp_path / "vllm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Index(str(tmp_path), ("vllm",))


@pytest.mark.parametrize(
    "module, name, verdict",
    [
        ("vllm.plain", "call", "found"),
        ("vllm.plain", "Config", "found"),
        ("vllm.plain", "LIMIT", "found"),
        ("vllm.plain", "moved", "found"),
        ("vllm.plain", "gone", "gone"),
        ("vllm.again", "Renamed", "found"),
        ("vllm.again", "moved", "found"),
        ("vllm.again", "Built", "gone"),
        ("vllm.lazy", "anything", "unknown"),
        ("vllm.broken", "anything", "unknown"),
        ("vllm.nowhere", "anything", "gone"),
        ("vllm.folder", "inner", "found"),
        ("vllm.folder", "Tensor", "found"),
        ("vllm.folder", "outer", "gone"),
    ],
)
def test_whether_a_name_is_there(index: Index, module: str, name: str, verdict: str) -> None:
    assert find(index, module, name)[0] == verdict


@pytest.mark.parametrize(
    "name, required, names",
    [
        ("call", {"a", "c"}, {"a", "b", "c", "d"}),
        ("Built", {"x"}, {"x", "y"}),
        ("Config", {"first", "second"}, {"first", "second", "third"}),
        ("Inherited", None, None),
    ],
)
def test_what_a_call_must_and_may_give(
    index: Index, name: str, required: Optional[Set[str]], names: Optional[Set[str]]
) -> None:
    found = signature(find(index, "vllm.plain", name)[1])
    if required is None:
        assert found is None
    else:
        assert found is not None
        assert (found.required, found.names) == (required, names)


CALLS = {
    "call(1, c=2)": [],
    "call(1, c=2, d=3)": [],
    "call(c=2)": ["call(...) is not given a, which this vLLM requires (TypeError)"],
    "call(1, c=2, e=3)": ["call(...) is given e, which this vLLM does not take (TypeError)"],
    "call(*more)": [],
    "call(1, **more)": [],
    "loose(1, e=3)": [],
    "Config(first=1, third=2)": ["Config(...) is not given second, which this vLLM requires (TypeError)"],
    "Config(1, True)": [],
    "other.call()": [],
}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_a_call_against_its_signature(index: Index, call: str) -> None:
    text = f"from vllm.plain import Config, call, loose\n{call}\n"
    notes = list(interface_notes(index, Source.parse(text.encode(), path="made.py")))
    assert notes == [f"made.py:2: {says}" for says in CALLS[call]]


def test_an_import_that_is_gone(index: Index) -> None:
    text = "import torch\nfrom vllm.plain import call, gone\nfrom vllm.nowhere import x\nfrom elsewhere import y\n"
    assert list(interface_notes(index, Source.parse(text.encode(), path="made.py"))) == [
        "made.py:2: this vLLM has no vllm.plain.gone (ImportError)",
        "made.py:3: this vLLM has no vllm.nowhere.x (ImportError)",
    ]
