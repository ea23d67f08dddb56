# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge facts by checks that are data.

A check has ``when`` and ``expect``, lists of conditions that all must hold. A condition names a ``fact`` by its path
(``gpus[].memory.free``: of each GPU) and one comparison. A value that begins with ``$`` is the path of another fact.
A null fact makes a condition neither true nor false: the check is then ``unknown``, with the reason that is given.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import re
import typing as t

Facts = t.Mapping[str, t.Any]
Check = t.Mapping[str, t.Any]
Result = t.Dict[str, t.Any]

OK, FAILED, WARNING, UNKNOWN = "ok", "failed", "warning", "unknown"
NOT_APPLICABLE, SKIPPED = "not applicable", "skipped"
POLICIES = ("enforce", "warn", "skip")
FIELDS = {"id", "title", "covers", "severity", "what", "why", "when", "expect", "found", "wanted", "fix", "source"}


class BadCheck(ValueError):
    """A check, or the policy for one, is not what it must be."""


def _version(value: t.Any) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", str(value)))


def _not_below(value: t.Any, wanted: t.Any) -> bool:
    left, right = _version(value), _version(wanted)
    size = max(len(left), len(right))
    return left + (0,) * (size - len(left)) >= right + (0,) * (size - len(right))


def _no_limit(value: t.Any, wanted: t.Any) -> bool:
    return bool(value == -1 or value >= wanted)


# Comparisons of one value; of a path with [] every value must pass.
EACH: dict[str, t.Callable[[t.Any, t.Any], bool]] = {
    "equals": lambda value, wanted: bool(value == wanted),
    "differs": lambda value, wanted: bool(value != wanted),
    "in": lambda value, wanted: value in wanted,
    "not_in": lambda value, wanted: value not in wanted,
    "at_least": lambda value, wanted: bool(value >= wanted),
    "at_most": lambda value, wanted: bool(value <= wanted),
    "limit_at_least": _no_limit,
    "version_at_least": _not_below,
    "matches": lambda value, wanted: re.search(wanted, str(value)) is not None,
}
# Comparisons of all values together.
WHOLE: dict[str, t.Callable[[t.Any, t.Any], bool]] = {
    "empty": lambda value, wanted: (not value) is wanted,
    "alike": lambda value, wanted: (len({repr(item) for item in value}) <= 1) is wanted,
}
# True and false of null too.
PRESENT = "present"
OPERATORS = {*EACH, *WHOLE, PRESENT}


def lookup(facts: Facts, path: str) -> t.Any:
    """The value at ``path``: a list where the path has ``[]``, None where a part is missing or null."""
    value: t.Any = facts
    parts = path.split(".")
    for position, part in enumerate(parts):
        name = part[:-2] if part.endswith("[]") else part
        value = value.get(name) if isinstance(value, dict) else None
        if value is None:
            return None
        if part.endswith("[]"):
            rest = ".".join(parts[position + 1 :])
            found = [lookup(item, rest) if rest else item for item in value]
            return [inner for item in found for inner in item] if "[]" in rest and None not in found else found
    return value


def _resolve(facts: Facts, value: t.Any) -> t.Any:
    return lookup(facts, value[1:]) if isinstance(value, str) and value.startswith("$") else value


def _operator(condition: t.Mapping[str, t.Any]) -> str:
    names = sorted(set(condition) - {"fact"})
    if "fact" not in condition or len(names) != 1 or names[0] not in OPERATORS:
        raise BadCheck(f"a condition has a fact and one of {', '.join(sorted(OPERATORS))}: {dict(condition)!r}")
    return names[0]


def holds(facts: Facts, condition: t.Mapping[str, t.Any]) -> bool | None:
    """Whether a condition holds; None where a fact that it needs is null."""
    operator = _operator(condition)
    value = lookup(facts, condition["fact"])
    if operator == PRESENT:
        return (value not in (None, [], {}, "")) is condition[operator]
    wanted = _resolve(facts, condition[operator])
    if value is None or wanted is None:
        return None
    if operator in WHOLE:
        if isinstance(value, list) and None in value:
            return None
        return WHOLE[operator](value, wanted)
    values = value if "[]" in condition["fact"] else [value]
    if any(item is not None and not EACH[operator](item, wanted) for item in values):
        return False
    return None if None in values else True


def _all(facts: Facts, conditions: t.Sequence[t.Mapping[str, t.Any]]) -> tuple[bool | None, str]:
    """Whether all hold, and the fact that decided: the first that fails, else the first that is not known."""
    unknown = ""
    for condition in conditions:
        answer = holds(facts, condition)
        if answer is False:
            return False, condition["fact"]
        if answer is None and not unknown:
            unknown = condition["fact"]
    return (None, unknown) if unknown else (True, "")


def reason(facts: Facts, fact: str) -> str:
    """Why a fact is null: its own reason, that of what it lies in, or of what it was derived from."""
    reasons: t.Mapping[str, str] = facts.get("unknown") or {}
    place = fact
    while place:
        if place in reasons:
            return reasons[place]
        inside = sorted(key for key in reasons if key.startswith((place + ".", place + "[]")))
        if inside:
            return reasons[inside[0]]
        place = place.rpartition(".")[0]
        if place.endswith("[]") and place not in reasons and place[:-2] in reasons:
            return reasons[place[:-2]]
    return f"{fact} is not known on this host"


def say(value: t.Any) -> str:
    """A found or wanted value for a person."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        words = list(dict.fromkeys(say(item) for item in value))
        return ", ".join(words) if words else "none"
    if isinstance(value, int) and abs(value) >= 1 << 20:
        return f"{value / (1 << 30):.1f} GiB" if abs(value) >= 1 << 30 else f"{value / (1 << 20):.1f} MiB"
    if isinstance(value, float):
        return f"{value:g}"
    return "not known" if value is None else str(value)


def _fill(text: str, facts: Facts) -> str:
    """Put facts into a text: ``{derived.memory_need}``."""
    return re.sub(r"\{([a-z][\w.\[\]]*)\}", lambda match: say(lookup(facts, match.group(1))), text)


def validate(checks: t.Sequence[Check]) -> None:
    """Raises BadCheck for the first check that is not well formed."""
    seen: set[str] = set()
    for check in checks:
        name = check.get("id")
        lacking = sorted(FIELDS - {"found", "covers"} - set(check))
        surplus = sorted(set(check) - FIELDS)
        if not name or lacking or surplus:
            raise BadCheck(f"check {name!r}: missing {lacking}, not known {surplus}")
        if name in seen:
            raise BadCheck(f"two checks have the id {name!r}")
        seen.add(name)
        if check["severity"] not in POLICIES[:2]:
            raise BadCheck(f"check {name!r}: severity is enforce or warn, not {check['severity']!r}")
        for field in ("title", "what", "why", "wanted", "fix", "source"):
            if not isinstance(check[field], str):
                raise BadCheck(f"check {name!r}: {field} is not a text: {check[field]!r}")
        for condition in (*check["when"], *check["expect"]):
            _operator(condition)


def judge(facts: Facts, check: Check, policy: str | None = None) -> Result:
    """The result of one check: id, status, found, wanted, fix, and all of it in the one line ``message``."""
    severity = policy or check["severity"]
    result: Result = {
        "id": check["id"],
        "title": check["title"],
        "severity": severity,
        "status": SKIPPED,
        "found": None,
        "wanted": _fill(check["wanted"], facts),
        "fix": _fill(check["fix"], facts),
        "source": check["source"],
        "message": None,
    }
    if severity == "skip":
        return result
    applies, fact = _all(facts, check["when"])
    if applies is False:
        result["status"] = NOT_APPLICABLE
        return result
    answer: bool | None = None
    if applies:
        answer, fact = _all(facts, check["expect"])
    if answer is None:
        result["status"] = UNKNOWN
        result["message"] = f"{check['id']}: could not tell: {reason(facts, fact)}"
        return result
    shown = check.get("found") or check["expect"][0]["fact"]
    result["found"] = _fill(shown, facts) if "{" in shown else say(lookup(facts, shown))
    if answer:
        result["status"] = OK
        return result
    result["status"] = FAILED if severity == "enforce" else WARNING
    result["message"] = (
        f"{check['id']}: found {result['found']}, wanted {result['wanted']}; fix: {result['fix']} ({check['source']})"
    )
    return result


def judge_all(facts: Facts, checks: t.Sequence[Check], policies: t.Mapping[str, str]) -> list[Result]:
    """The results of all checks, in their order. Raises BadCheck for a policy that names no check or is not one."""
    validate(checks)
    known = {check["id"] for check in checks}
    for name, policy in policies.items():
        if name not in known:
            raise BadCheck(f"there is no check {name!r}; the ids are in docs/preflight.md")
        if policy not in POLICIES:
            raise BadCheck(f"check {name!r}: {policy!r} is not one of {', '.join(POLICIES)}")
    return [judge(facts, check, policies.get(check["id"])) for check in checks]


__all__ = ("BadCheck", "OPERATORS", "holds", "judge", "judge_all", "lookup", "reason", "say", "validate")
