"""How much is shown, to be read by a person.

They guard against waiting, and against texts that nobody reads; a number with no reason beside it was not tuned.
"""

from __future__ import annotations

__all__ = [
    "BOXES",
    "BOX_CHARACTERS",
    "CELL_CHARACTERS",
    "COMPARED_CHARACTERS",
    "GRADIENT_CHARACTERS",
    "LATEX_CHARACTERS",
    "LATEX_LINE_CHARACTERS",
    "LATEX_REPEATED_CHARACTERS",
    "LINE_CHARACTERS",
    "NESTED_CONTRACTIONS",
    "NUMPY_CHARACTERS",
    "PAGE_CHARACTERS",
    "PATH_NODES",
    "READINGS",
    "SLOPE_EQUATIONS",
    "SOURCE_CHARACTERS",
    "STEPS_ON_PAGE",
    "STEPS_TOLD",
]

LINE_CHARACTERS = 78
"""Characters of a line that one takes in at a glance."""

PAGE_CHARACTERS = 100
"""Characters of a line of a derivation."""

STEPS_TOLD = 200
"""Steps of a derivation that a person reads; JSON has them all."""

STEPS_ON_PAGE = 500
"""Steps on a page of HTML, where they fold."""

GRADIENT_CHARACTERS = 300
"""Characters of a gradient that a person reads."""

PATH_NODES = 12
"""Nodes of a path that are told: the first half and the last."""

CELL_CHARACTERS = 70
"""Characters of program notation in one cell of a LaTeX table."""

SLOPE_EQUATIONS = 400
"""Equations of a gradient that is brought into its stable form before it is pasted."""

SOURCE_CHARACTERS = 100
"""Characters of a line of source for frameworks, beyond which a part gets a name."""

NUMPY_CHARACTERS = 80
"""The same of NumPy source."""

NESTED_CONTRACTIONS = 8
"""Transposed factors inside one another that are turned into rows."""

LATEX_CHARACTERS = 2_000
"""Characters of LaTeX that is one line: what a page can hold at all."""

LATEX_LINE_CHARACTERS = 400
"""Characters of a line once there are several."""

LATEX_REPEATED_CHARACTERS = 30
"""Characters of a shared part that is repeated rather than named."""

BOX_CHARACTERS = 34
"""Characters in a box of a picture."""

BOXES = 200
"""Boxes of a picture that a person reads."""

READINGS = 100
"""Pullbacks that read noise, in JSON."""

COMPARED_CHARACTERS = 150
"""Of a formula in a comparison of estimators: longer ones are told by their length."""
