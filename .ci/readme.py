"""Turn the README's ``bash`` and ``python`` blocks into one script, in order.

A block runs unless the line before its fence is ``<!-- needs: REASON -->``.
"""

import re
import sys
from pathlib import Path

readme, script = map(Path, sys.argv[1:])
lines = ["set -x"]
text = readme.read_text(encoding="utf-8")
for match in re.finditer(r"(<!-- needs: .+ -->\n)?^```(bash|python)\n(.*?)^```$", text, re.M | re.S):
    skipped, language, body = match.groups()
    if skipped:
        continue
    lines.append(body if language == "bash" else f"python - <<'PYTHON'\n{body}PYTHON")
script.write_text("\n".join(lines) + "\n", encoding="utf-8")
