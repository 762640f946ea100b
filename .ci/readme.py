"""Turn the README's ``bash`` and ``python`` blocks into one script, in order.

A block runs unless the line before its fence is ``<!-- needs: REASON -->``.
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"(<!-- needs: .+ -->\n)?^```(bash|python)\n(.*?)^```$", re.M | re.S)

readme, script = map(Path, sys.argv[1:])
lines = ["set -x"]
for skipped, language, body in BLOCK.findall(readme.read_text(encoding="utf-8")):
    if not skipped:
        lines.append(body if language == "bash" else f"python - <<'PYTHON'\n{body}PYTHON")
script.write_text("\n".join(lines) + "\n", encoding="utf-8")
