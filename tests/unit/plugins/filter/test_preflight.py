# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import pathlib
import typing as t

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.specdec.blackwell.plugins.filter.preflight import FilterModule, preflight
from ansible_collections.specdec.blackwell.plugins.plugin_utils._checks import (
    OPERATORS,
    BadCheck,
    holds,
    judge,
    lookup,
    say,
    validate,
)
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.recorded_host import VARIANTS, RecordedHost

ROLE = pathlib.Path(__file__).parents[4] / "roles" / "blackwell_preflight"
CHECKS: list[dict[str, t.Any]] = yaml.safe_load((ROLE / "vars/main/checks.yml").read_text())[
    "__blackwell_preflight_checks"
]
DEFAULTS = {
    key[len("blackwell_preflight_") :]: value
    for key, value in yaml.safe_load((ROLE / "defaults/main.yml").read_text()).items()
}
# What the machine that runs the tests decides: its own limits and its own /dev/shm.
OWN = {"dev-shm", "memlock", "open-files"}


def judged(host: RecordedHost, **more: t.Any) -> dict[str, t.Any]:
    return preflight(host.facts(), CHECKS, {**DEFAULTS, **host.settings, **more})


def raised(verdict: dict[str, t.Any]) -> list[str]:
    return [row["id"] for row in verdict["results"] if row["status"] in ("failed", "warning") and row["id"] not in OWN]


@pytest.mark.parametrize("name", list(VARIANTS))
def test_variant_raises_its_checks_and_no_other(name: str, tmp_path: pathlib.Path) -> None:
    verdict = judged(RecordedHost(tmp_path, name))
    assert raised(verdict) == VARIANTS[name]["raises"]
    for row in verdict["results"]:
        assert (row["message"] is not None) is (row["status"] in ("failed", "warning", "unknown"))
        if row["status"] in ("failed", "warning"):
            assert row["message"].startswith(f"{row['id']}: found {row['found']}, wanted {row['wanted']}; fix: ")
            assert "\n" not in row["message"] and row["message"].endswith(f"({row['source']})")


def test_every_check_is_raised_by_some_variant() -> None:
    by_variants = {name for variant in VARIANTS.values() for name in variant["raises"]}
    elsewhere = {
        *OWN,
        "p2p-correct",  # from here on: by the tests below
        "all-reduce-share",
        "custom-all-reduce-many",
        "jit-headers",
        "model-complete",
        "time-sync",
    }
    assert {check["id"] for check in CHECKS} - by_variants == elsewhere


def test_a_healthy_host_leaves_nothing_unknown(tmp_path: pathlib.Path) -> None:
    verdict = judged(RecordedHost(tmp_path, "blackwell-x2"))
    assert [row["id"] for row in verdict["results"] if row["status"] == "unknown"] == []
    assert verdict["failed"] == [name for name in verdict["failed"] if name in OWN]
    assert sum(verdict["counts"].values()) == len(CHECKS)


def test_a_host_without_driver_says_one_thing(tmp_path: pathlib.Path) -> None:
    rows = {row["id"]: row for row in judged(RecordedHost(tmp_path, "no-module"))["results"]}
    assert rows["driver-answers"]["status"] == "failed"
    assert "the driver does not answer" in rows["driver-answers"]["found"]
    assert {row["status"] for key, row in rows.items() if key != "driver-answers"} <= {"ok", "not applicable"}


MEASURED: dict[str, t.Any] = {
    "copies": {"pairs": [{"from": 0, "to": 1, "wrong": 12}, {"from": 1, "to": 0, "wrong": 0}]},
    "prediction": {"all_reduce_share": 0.515},
}


@pytest.mark.parametrize(
    ("check", "status", "found", "change"),
    [
        ("p2p-correct", "failed", "GPU 0 to 1: 12 bytes", lambda facts: facts.update(measured=MEASURED)),
        ("all-reduce-share", "warning", "0.515", lambda facts: facts.update(measured=MEASURED)),
        ("dev-shm", "failed", "64.0 MiB", lambda facts: facts["host"].update(shm={"size": 64 << 20, "free": 0})),
        ("dev-shm", "ok", "32.0 GiB", lambda facts: facts["host"].update(shm={"size": 32 << 30, "free": 0})),
        ("memlock", "warning", "8.0 MiB", lambda facts: facts["host"]["limits"]["memlock"].update(hard=8 << 20)),
        ("memlock", "ok", "-1", lambda facts: facts["host"]["limits"]["memlock"].update(hard=-1)),
        ("open-files", "warning", "1024", lambda facts: facts["host"]["limits"]["nofile"].update(hard=1024)),
        ("jit-headers", "warning", "nvrtc.h there: no", lambda facts: facts["cuda"].update(toolkits=[])),
        ("acs-redirect", "unknown", None, lambda facts: facts["gpus"][1]["pci"]["path"][0].update(readable=False)),
        ("mig", "unknown", None, lambda facts: facts["gpus"][1]["mig"].update(enabled=None)),
        ("compute-capability", "unknown", None, lambda facts: facts["gpus"][1].update(compute_capability=None)),
        ("xid-errors", "unknown", None, lambda facts: facts["kernel"].update(xids=None)),
    ],
)
def test_one_fact(check: str, status: str, found: str | None, change: t.Any, tmp_path: pathlib.Path) -> None:
    host = RecordedHost(tmp_path, "blackwell-x2")
    facts = host.facts()
    change(facts)
    verdict = preflight(facts, CHECKS, {**DEFAULTS, **host.settings})
    (row,) = [row for row in verdict["results"] if row["id"] == check]
    assert (row["status"], row["found"]) == (status, found)


@pytest.mark.parametrize(
    ("clock", "nodes", "status"),
    [
        ({"synchronized": True, "max_error_ms": 20.0}, 1, "not applicable"),
        ({"synchronized": True, "max_error_ms": 20.0}, 2, "ok"),
        ({"synchronized": True, "max_error_ms": 900.0}, 2, "failed"),
        ({"synchronized": False, "max_error_ms": 16000.0}, 2, "failed"),
        (None, 2, "unknown"),
    ],
)
def test_clocks_matter_to_a_group(clock: t.Any, nodes: int, status: str, tmp_path: pathlib.Path) -> None:
    host = RecordedHost(tmp_path, "blackwell-x2")
    facts = host.facts()
    facts["host"]["clock"] = clock
    verdict = preflight(facts, CHECKS, {**DEFAULTS, **host.settings, "nodes": nodes})
    assert [row["status"] for row in verdict["results"] if row["id"] == "time-sync"] == [status]


def test_four_cards_want_custom_all_reduce_off_in_so_many_words(tmp_path: pathlib.Path) -> None:
    host = RecordedHost(tmp_path, "blackwell-x2")
    facts = host.facts()
    facts["gpus"] = [{**copy.deepcopy(facts["gpus"][0]), "index": index} for index in range(4)]
    settings = {**DEFAULTS, **host.settings, "engine_args": ["--tensor-parallel-size", "4"]}
    assert raised(preflight(facts, CHECKS, settings)) == ["custom-all-reduce-many"]
    settings["engine_args"].append("--disable-custom-all-reduce")
    assert raised(preflight(facts, CHECKS, settings)) == []


def test_a_model_with_a_missing_file(tmp_path: pathlib.Path) -> None:
    host = RecordedHost(tmp_path, "sparse-mla")
    facts = host.facts()
    facts["model"]["weights"].update(promised=1 << 30, missing=["model-00002-of-00002.safetensors"])
    assert raised(preflight(facts, CHECKS, {**DEFAULTS, **host.settings})) == ["sparse-mla", "model-complete"]


@pytest.mark.parametrize(
    ("policy", "status", "stops"), [("warn", "warning", []), ("skip", "skipped", []), ("enforce", "failed", ["mig"])]
)
def test_policy_goes_before_severity(policy: str, status: str, stops: list[str], tmp_path: pathlib.Path) -> None:
    host = RecordedHost(tmp_path, "mig-on")
    verdict = preflight(host.facts(), CHECKS, {**DEFAULTS, **host.settings}, {"mig": policy})
    assert [row["status"] for row in verdict["results"] if row["id"] == "mig"] == [status]
    assert [name for name in verdict["failed"] if name not in OWN] == stops


@pytest.mark.parametrize(
    ("policies", "message"), [({"mgi": "skip"}, "there is no check 'mgi'"), ({"mig": "ignore"}, "'ignore' is not one")]
)
def test_wrong_policies_are_refused(policies: dict[str, str], message: str, tmp_path: pathlib.Path) -> None:
    host = RecordedHost(tmp_path, "blackwell-x2")
    with pytest.raises(AnsibleFilterError, match=message):
        preflight(host.facts(), CHECKS, {**DEFAULTS, **host.settings}, policies)


def test_the_facts_of_the_chosen_gpus_alone_count(tmp_path: pathlib.Path) -> None:
    host = RecordedHost(tmp_path, "narrow-link")
    assert raised(judged(host, gpus=["1"])) == []
    (tmp_path / "again").mkdir()
    assert raised(judged(RecordedHost(tmp_path / "again", "narrow-link"), gpus=["0"])) == ["pcie-link"]


def test_checks_are_well_formed_and_cover_the_catalogue() -> None:
    validate(CHECKS)
    covered = {entry for check in CHECKS for entry in check.get("covers", ())}
    assert covered == {f"S{number}" for number in range(1, 26)}
    assert {check["severity"] for check in CHECKS} == {"enforce", "warn"}
    assert all(check["source"].startswith("https://") for check in CHECKS)


def test_remedies_are_checks() -> None:
    remedies = {path.stem for path in (ROLE / "tasks/remediate").glob("*.yml")}
    spec = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    assert remedies == set(spec["blackwell_preflight_remediate"]["choices"])
    assert remedies <= {check["id"] for check in CHECKS}
    assert {name: option["default"] for name, option in spec.items()} == yaml.safe_load(
        (ROLE / "defaults/main.yml").read_text()
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"fact": "n", "equals": 3}, True),
        ({"fact": "n", "differs": 3}, False),
        ({"fact": "n", "at_least": 4}, False),
        ({"fact": "n", "at_most": "$m"}, True),
        ({"fact": "limit", "limit_at_least": 99}, True),
        ({"fact": "v", "version_at_least": "12.9"}, True),
        ({"fact": "v", "version_at_least": "12.10.1"}, False),
        ({"fact": "v", "matches": r"^12\."}, True),
        ({"fact": "each[].n", "in": [1, 2]}, True),
        ({"fact": "each[].n", "not_in": [2]}, False),
        ({"fact": "each[].n", "alike": True}, False),
        ({"fact": "each[].gone", "equals": 1}, None),
        ({"fact": "gone.away", "equals": 1}, None),
        ({"fact": "gone.away", "present": True}, False),
        ({"fact": "none", "empty": True}, True),
        ({"fact": "n", "equals": "$gone"}, None),
    ],
)
def test_conditions(condition: dict[str, t.Any], expected: bool | None) -> None:
    facts = {"n": 3, "m": 5, "limit": -1, "v": "12.10", "each": [{"n": 1}, {"n": 2}], "none": []}
    assert holds(facts, condition) is expected


def test_one_known_failure_outweighs_what_is_not_known() -> None:
    facts = {"gpus": [{"mig": None}, {"mig": True}]}
    assert holds(facts, {"fact": "gpus[].mig", "differs": True}) is False


@pytest.mark.parametrize(
    "condition", [{"equals": 1}, {"fact": "a"}, {"fact": "a", "is": 1}, {"fact": "a", "equals": 1, "in": []}]
)
def test_bad_conditions(condition: dict[str, t.Any]) -> None:
    with pytest.raises(BadCheck, match="a condition has a fact and one of"):
        holds({}, condition)


def test_bad_checks() -> None:
    whole = CHECKS[0]
    for change, message in (
        ({"severity": "fatal"}, "severity is enforce or warn"),
        ({"colour": "red"}, "not known"),
        ({"id": ""}, "missing"),
        ({"wanted": False}, "wanted is not a text"),
    ):
        with pytest.raises(BadCheck, match=message):
            validate([{**whole, **change}])
    with pytest.raises(BadCheck, match="two checks"):
        validate([whole, whole])


def test_words() -> None:
    assert [say(value) for value in (True, None, [], [1, 1, 2], 3 << 30, 5, 0.25, "x")] == [
        "yes",
        "not known",
        "none",
        "1, 2",
        "3.0 GiB",
        "5",
        "0.25",
        "x",
    ]
    assert lookup({"a": [{"b": [{"c": 1}]}, {"b": [{"c": 2}]}]}, "a[].b[].c") == [1, 2]
    assert set(FilterModule().filters()) == {"preflight"}
    assert "present" in OPERATORS
    assert judge({}, CHECKS[0], "skip")["status"] == "skipped"
