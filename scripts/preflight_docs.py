# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/preflight.md from the checks of the role blackwell_preflight; with --check only compare."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ROOT / "roles/blackwell_preflight/vars/main/checks.yml"
PAGE = ROOT / "docs/preflight.md"

HEAD = """<!--
Copyright (c) 2026 The specdec.blackwell authors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later

Written by scripts/preflight_docs.py from roles/blackwell_preflight/vars/main/checks.yml.
-->

# Every check of the preflight

`specdec.blackwell.blackwell_preflight` reads a host with `specdec.blackwell.nvidia_gpu_info` and judges it by the
checks below. `enforce` stops the host, `warn` only tells; `blackwell_preflight_policies` sets `enforce`, `warn` or
`skip` by id:

```yaml
blackwell_preflight_policies:
  gpus-idle: skip
  pcie-power: enforce
```

A check answers `ok`, `failed`, `warning`, `not applicable`, `skipped`, or `unknown` where a fact that it needs could
not be read; the report tells why. All checks are judged before a host is stopped, and all failures are told at once.

A check is data: the conditions of `when` say where it applies, those of `expect` what must hold. A condition is the
path of a fact (`gpus[].mig.enabled`: of each GPU) and a comparison: `equals`, `differs`, `in`, `not_in`, `at_least`,
`at_most`, `limit_at_least` (-1 is no limit), `version_at_least`, `matches`, and of all values together `empty`,
`alike`; `present` asks whether there is a value at all. A value that begins with `$` is the path of another fact.
Facts are what the module returns, `settings` the role's variables without their prefix, and `derived` what follows
from both.
"""


def condition(entry: dict[str, Any]) -> str:
    (name, value) = next((key, value) for key, value in entry.items() if key != "fact")
    said = ("yes" if value else "no") if isinstance(value, bool) else value
    if isinstance(said, list):
        said = ", ".join(str(item) for item in said)
    return f"`{entry['fact']}` {name.replace('_', ' ')} `{said}`"


def render(checks: list[dict[str, Any]]) -> str:
    lines = [HEAD, "| check | severity | what |", "| --- | --- | --- |"]
    lines += [f"| [{check['id']}](#{check['id']}) | {check['severity']} | {check['what']} |" for check in checks]
    for check in checks:
        covers = check.get("covers")
        lines += [
            "",
            f"## {check['id']}",
            "",
            f"**{check['title']}**, {check['severity']}{', catalogue ' + ', '.join(covers) if covers else ''}.",
            "",
            f"- {check['what']}",
            f"- Why: {check['why']}",
            f"- Applies when: {' and '.join(map(condition, check['when'])) or 'always'}",
            f"- Expects: {' and '.join(map(condition, check['expect']))}",
            f"- Fix: {check['fix']}",
            f"- Source: <{check['source']}>",
        ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    page = render(yaml.safe_load(CHECKS.read_text(encoding="utf-8"))["__blackwell_preflight_checks"])
    if arguments == ["--check"]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page:
            return 0
        print("docs/preflight.md is not what the checks say; run: python scripts/preflight_docs.py")
        return 1
    if arguments:
        print(__doc__)
        return 2
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
