# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import itertools

import packaging.specifiers
import packaging.version
import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._pep440 import SpecifierSet, Version

VERSIONS = [
    "0",
    "0.1",
    "0.9.9",
    "0.16",
    "0.16.0",
    "0.16.0.0",
    "0.16.0.dev0",
    "0.16.0.dev7",
    "0.16.0a0",
    "0.16.0a1.dev2",
    "0.16.0b2",
    "0.16.0rc1",
    "0.16.0rc1.post2",
    "0.16.0rc1.post2.dev3",
    "0.16.0.post0",
    "0.16.0.post1",
    "0.16.0.post1.dev1",
    "0.16.0-1",
    "0.16.0+cu129",
    "0.16.0+cu130",
    "0.16.0+cu129.1",
    "0.16.0+2",
    "0.16.0+10",
    "0.16.0rc1+cu129",
    "0.16.0.post1+abc",
    "0.16.1",
    "0.16.1.dev123+gabc1234",
    "0.17",
    "0.17.0rc2",
    "0.17.1",
    "0.18.0.dev0",
    "0.18.0rc1",
    "0.18",
    "1",
    "1.0",
    "1.0.0",
    "1!0.1",
    "1!0.16.0",
    "2!1.0",
    "v0.17.0",
    "0.17.0alpha",
    "0.17.0-beta.3",
    "0.17.0_preview_4",
    "0.17.0c1",
    "0.17.0.r3",
    "0.17.0-rev-4",
    "2024.1",
]
CLAUSES = [
    "==0.16",
    "==0.16.0",
    "==0.16.*",
    "==0.16.0.*",
    "!=0.16.0",
    "!=0.16.*",
    "==0.16.0+cu129",
    "!=0.16.0+cu129",
    "==0.16.0rc1",
    "==0.16.0.post1",
    "~=0.16.0",
    "~=0.16",
    "~=0.16.0rc1",
    "~=0.16.0.post1",
    "~=1.0",
    "~=1!0.16.0",
    "~=0.16.0.dev7",
    ">=0.16",
    ">=0.16.0rc1",
    ">=0.16.0.post1",
    ">=0.16.0.dev7",
    "<=0.16",
    "<=0.16.0.post1",
    "<=0.16.0rc1",
    ">0.16",
    ">0.16.0",
    ">0.16.0.post0",
    "<0.16",
    "<0.18",
    "<0.18.0rc1",
    "<0.16.0.dev7",
    "<1!0",
    ">=1!0",
    "===0.16.0",
    "===0.16.0+cu129",
    "===v0.17.0",
    ">=0.16,<0.18",
    ">=0.16,!=0.16.1,<0.18",
    "~=0.16.0,!=0.16.0.post1",
]


@pytest.mark.parametrize("clause", CLAUSES)
def test_agrees_with_packaging(clause: str) -> None:
    ours, theirs = SpecifierSet(clause), packaging.specifiers.SpecifierSet(clause, prereleases=True)
    for version in VERSIONS:
        # packaging gives === the normalised text; PEP 440 says that the strings are compared as they are.
        expected = version.lower() == clause[3:] if clause.startswith("===") else theirs.contains(version)
        assert ours.contains(version) == expected, version


def test_order_agrees_with_packaging() -> None:
    for left, right in itertools.product(VERSIONS, VERSIONS):
        ours = Version(left).key() < Version(right).key()
        assert ours == (packaging.version.Version(left) < packaging.version.Version(right)), (left, right)


@pytest.mark.parametrize("text", ["", "x", "1.x", "1..2", "1.0+", "1.0+a..b", "1.0 .1", "1.0-", "!1", "1.0\u0661"])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(BadInput, match="not a version"):
        Version(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" , ", "empty"),
        ("0.16", "write '==0.16'"),
        ("=0.16", "not a version specifier"),
        (">=0.16 <0.18", "not a version specifier"),
        (">=0.16.*", "goes with == and !="),
        ("~=1", "at least two numbers"),
        (">=1.0+cu129", "local part"),
        ("==1.0.dev1.*", "numbers of a release"),
        ("==1.0rc1.*", "numbers of a release"),
        ("==1.0.post1.*", "numbers of a release"),
        ("==1.0+abc.*", "numbers of a release"),
        (">=latest", "an example: '>=0.16,<0.18'"),
    ],
)
def test_bad_specifier_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        SpecifierSet(text)


def test_a_version_of_its_own_kind_meets_only_the_same_text() -> None:
    assert SpecifierSet("===nightly").contains("NIGHTLY")
    assert not SpecifierSet(">=0.1").contains("nightly")
    assert not SpecifierSet("!=0.1").contains("nightly")


# Releases of packaging differ on these; PEP 440: ">V" leaves out V's own post-releases, "<V" V's own pre-releases.
@pytest.mark.parametrize(
    ("clause", "inside", "outside"),
    [
        (">0.16.0rc1", "0.16.0rc2 0.16.0 0.16.0+x 0.16.0.post1", "0.16.0rc1 0.16.0rc1.post2 0.16.0rc1+cu129 0.16.0b9"),
        (">0.16.0.dev0", "0.16.0.dev7 0.16.0a1.dev2 0.16.0rc1.post2 0.16.0.post1", "0.16.0.dev0 0.15"),
        (">0.16.0a1.dev2", "0.16.0a1 0.16.0rc1.post2 0.16.0", "0.16.0a1.dev2 0.16.0a1.dev2+x 0.16.0.dev9"),
        ("<0.16.0.post1", "0.16.0.dev0 0.16.0rc1 0.16.0 0.16.0+x", "0.16.0.post1 0.16.0.post1.dev1 0.16.0.post1+abc"),
        ("<0.16.0rc2", "0.16.0rc1 0.16.0.dev0 0.16.0rc2.dev1", "0.16.0rc2 0.16.0"),
    ],
)
def test_exclusive_comparison_and_suffixes(clause: str, inside: str, outside: str) -> None:
    specifiers = SpecifierSet(clause)
    assert [item for item in inside.split() if not specifiers.contains(item)] == []
    assert [item for item in outside.split() if specifiers.contains(item)] == []
