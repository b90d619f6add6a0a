"""Limits of printed texts and pictures, for people to read.

They bound time and the length of texts. A number without a comment was not tuned.
"""

from __future__ import annotations

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
"""Nodes of a printed path: the first half and the last."""

CELL_CHARACTERS = 70
"""Characters of program notation in one cell of a LaTeX table."""

SLOPE_EQUATIONS = 400
"""Number of equations of the largest gradient that is brought into its stable form before it is printed as code."""

SOURCE_CHARACTERS = 100
"""Characters of a line of source for frameworks, beyond which a part gets a name."""

NUMPY_CHARACTERS = 80
"""Characters of a line of NumPy source, beyond which a part gets a name."""

NESTED_CONTRACTIONS = 8
"""Nested transposed factors that are rewritten as rows."""

LATEX_CHARACTERS = 2_000
"""Number of characters of the longest LaTeX formula that stays on one line: longer ones do not fit a page."""

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
"""Characters of a formula in a comparison of estimators; of a longer one only the length is printed."""
