# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print pip's settings on this host as JSON, lists by option. uv reads none of them, and pip may not be installed.

In pip's own order, a later place goes before an earlier one: system, user, environment, PIP_CONFIG_FILE, variables.
"""

import configparser
import json
import os
import sys

OPTIONS = ("index-url", "extra-index-url", "find-links", "no-index", "cert", "proxy", "trusted-host")

user = os.path.expanduser("~")
config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(user, ".config")
system = (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
places = [os.path.join(folder, "pip", "pip.conf") for folder in reversed(system)]
places += ["/etc/pip.conf", os.path.join(user, ".pip", "pip.conf"), os.path.join(config, "pip", "pip.conf")]
places.append(os.path.join(sys.prefix, "pip.conf"))
named = os.environ.get("PIP_CONFIG_FILE")
if named == os.devnull:
    places = []
elif named:
    places.append(named)

found = {}
for section in ("global", "install"):
    for place in places:
        parser = configparser.RawConfigParser()
        try:
            parser.read(place, encoding="utf-8")
        except (OSError, UnicodeDecodeError, configparser.Error) as error:
            sys.exit(f"cannot read {place}: {error}")
        if parser.has_section(section):
            for key, value in parser.items(section):
                if key.replace("_", "-") in OPTIONS:
                    found[key.replace("_", "-")] = value.split()
for option in OPTIONS:
    value = os.environ.get("PIP_" + option.upper().replace("-", "_"))
    if value:
        found[option] = value.split()
print(json.dumps(found))
