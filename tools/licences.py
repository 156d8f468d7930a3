"""Fails where a dependency's licence is not among those that throng may be shipped with.

Reads `cargo metadata --format-version 1` from standard input.
"""

import json
import re
import sys

ALLOWED = {
    "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unicode-3.0", "MIT-0", "CC0-1.0",
}  # fmt: skip


def permits(expression):
    """Whether an SPDX expression can be met with allowed licences alone."""
    tokens = re.findall(r"\(|\)|[^\s()/]+|/", re.sub(r"\s+WITH\s+\S+", "", expression))
    words = {"AND": "and", "OR": "or", "/": "or", "(": "(", ")": ")"}
    # Only parentheses, `and`, `or`, `True` and `False` are left to evaluate.
    return eval(" ".join(words.get(token, str(token in ALLOWED)) for token in tokens))


packages = json.load(sys.stdin)["packages"]
refused = [p for p in packages if not (p["license"] and permits(p["license"]))]
for package in refused:
    print(f"{package['name']} {package['version']}: {package['license'] or 'no licence'}")
print(f"{len(packages)} packages, {len(refused)} with a licence that is not allowed")
sys.exit(1 if refused else 0)
