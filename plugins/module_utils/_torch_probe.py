# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask torch itself. Runs as a child of an engine's own interpreter, with its site-packages, because it imports torch.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import importlib
import typing as t
import warnings

Payload = t.Dict[str, t.Any]


def run_request(request: Payload) -> Payload:
    """What torch says of itself and of the devices that it sees; ``reason`` where it cannot be asked.

    response = {"version", "cuda", "architectures", "nccl", "devices": [{"name", "compute_capability"}], "peers":
    [[bool]], "reason": text or null}; null where it is not known.
    """
    warnings.simplefilter("ignore")
    answer: Payload = dict.fromkeys(("version", "cuda", "architectures", "nccl", "devices", "peers", "reason"))
    try:
        torch: t.Any = importlib.import_module("torch")
        answer["version"] = str(torch.__version__)
        answer["cuda"] = torch.version.cuda
        answer["architectures"] = list(torch.cuda.get_arch_list())
        count = torch.cuda.device_count()
        answer["devices"] = [
            {
                "name": torch.cuda.get_device_name(index),
                "compute_capability": "{}.{}".format(*torch.cuda.get_device_capability(index)),
            }
            for index in range(count)
        ]
        answer["peers"] = [
            [one == other or bool(torch.cuda.can_device_access_peer(one, other)) for other in range(count)]
            for one in range(count)
        ]
        if torch.version.cuda is not None:
            answer["nccl"] = ".".join(str(part) for part in torch.cuda.nccl.version())
    except Exception as error:  # whatever a broken installation raises is the answer
        answer["reason"] = f"{type(error).__name__}: {error}"[:500]
    return answer


__all__ = ("run_request",)
