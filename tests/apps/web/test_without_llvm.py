"""Where there is no llvmlite, as in a browser: everything but native code is answered."""

from __future__ import annotations

import json

from tests.processes import printed

CODE = """
import sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "llvmlite":
            raise ModuleNotFoundError("No module named 'llvmlite'", name="llvmlite")
sys.meta_path.insert(0, Nowhere())
import json, symgrad
from symgrad.apps.web.answers import LANGUAGES, PARTS, answer, validate_question
asked = {"program": sys.argv[1], "wrt": "x", "claim": "2*x", "parts": list(PARTS)}
found = {part["part"]: part for part in answer(validate_question(asked))}
for language in LANGUAGES:
    (found[language],) = answer(validate_question({**asked, "parts": ["source"], "language": language}))
assert "llvmlite" not in sys.modules
print(json.dumps(found))
"""

PROGRAM = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)"


def test_everything_but_native_code_is_answered() -> None:
    found = json.loads(printed(CODE, PROGRAM))
    native = {"assembly", "c"}
    assert not [name for name, part in found.items() if "error" in part]
    for name, part in found.items():
        assert ("needs llvmlite" in json.dumps(part)) == (name in native), name
    assert found["claim"]["blocks"][0]["status"] == "refuted"
    assert "u enters the gradient" in json.dumps(found["noise"])
    assert found["plot"]["blocks"][0]["curves"][1]["values"][0] < 0
