# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a module in this process as Ansible would, and look at what it returns."""

from __future__ import annotations

import json
import types
import typing as t

import pytest
from ansible.module_utils.testing import patch_module_args

Result = t.Dict[str, t.Any]


class Runner:
    """``run`` a module with options; ``parity`` in check mode first, and then in earnest."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def run(self, module: types.ModuleType, *, check: bool = False, diff: bool = True, **options: t.Any) -> Result:
        self._capfd.readouterr()
        internal = {"_ansible_check_mode": check, "_ansible_diff": diff}
        with patch_module_args({**options, **internal}), pytest.raises(SystemExit) as end:
            module.main()
        result: Result = json.loads(self._capfd.readouterr().out)
        assert (end.value.code != 0) is bool(result.get("failed"))
        result["warnings"] = [_text(warning) for warning in result.get("warnings", ())]
        return result

    def fails(self, module: types.ModuleType, **options: t.Any) -> Result:
        result = self.run(module, **options)
        assert result.get("failed"), result
        return result

    def parity(self, module: types.ModuleType, **options: t.Any) -> Result:
        """The result of a run whose check mode has said the same of changes, diff, edits and files."""
        foretold = self.run(module, check=True, **options)
        result = self.run(module, **options)
        assert not result.get("failed"), result
        for key in ("changed", "diff", "edits", "files", "generated_edits"):
            assert foretold.get(key) == result.get(key), key
        return result


def _text(warning: t.Any) -> str:
    """Newer releases of ansible-core give each warning as an event."""
    return str(warning["event"]["msg"] if isinstance(warning, dict) else warning)


__all__ = ("Result", "Runner")
