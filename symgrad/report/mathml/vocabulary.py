"""Tables that map commands of LaTeX to characters of MathML."""

from __future__ import annotations

# fmt: off
LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "ϕ", "chi": "χ", "psi": "ψ", "omega": "ω", "varepsilon": "ε",
    "vartheta": "ϑ", "varphi": "φ", "varpi": "ϖ", "varrho": "ϱ", "varsigma": "ς",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "partial": "∂", "nabla": "∇", "infty": "∞", "ell": "ℓ", "hbar": "ℏ", "top": "⊤", "bot": "⊥", "emptyset": "∅",
    "ldots": "…", "cdots": "⋯", "dots": "…", "vdots": "⋮", "ddots": "⋱", "Re": "ℜ", "Im": "ℑ", "dagger": "†",
    "forall": "∀", "exists": "∃", "imath": "ı", "jmath": "ȷ", "prime": "′",
}
"""Letters and symbols that are set like letters."""

OPERATORS = {
    "cdot": "⋅", "times": "×", "odot": "⊙", "otimes": "⊗", "oplus": "⊕", "circ": "∘", "ast": "∗", "star": "⋆",
    "pm": "±", "mp": "∓", "div": "÷", "wedge": "∧", "land": "∧", "vee": "∨", "lor": "∨", "setminus": "∖",
    "cup": "∪", "cap": "∩", "bmod": "mod",
}
"""Operators between two sides."""

RELATIONS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">", "in": "∈",
    "notin": "∉", "to": "→", "rightarrow": "→", "leftarrow": "←", "Rightarrow": "⇒", "Leftarrow": "⇐",
    "mapsto": "↦", "sim": "∼", "approx": "≈", "equiv": "≡", "propto": "∝", "ll": "≪", "gg": "≫", "mid": "∣",
    "subset": "⊂", "subseteq": "⊆", "perp": "⊥", "colon": ":", "implies": "⟹", "iff": "⟺",
}
"""Relations."""

LARGE = {"sum": "∑", "prod": "∏", "int": "∫", "bigcup": "⋃", "bigcap": "⋂", "bigwedge": "⋀", "bigvee": "⋁"}
"""Operators with limits; those of integrals stand at the side."""

FUNCTIONS = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "arcsin", "arccos", "arctan", "log",
    "ln", "lg", "exp", "det", "dim", "ker", "deg", "hom", "arg", "gcd", "Pr",
    "max", "min", "lim", "sup", "inf", "limsup", "liminf",
))
"""Functions by name."""

DELIMITERS = {
    "(": "(", ")": ")", "[": "[", "]": "]", "|": "|", "/": "/", "<": "⟨", ">": "⟩",
    r"\{": "{", r"\}": "}", r"\|": "‖", r"\lVert": "‖", r"\rVert": "‖", r"\lvert": "|", r"\rvert": "|",
    r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉", r"\langle": "⟨", r"\rangle": "⟩",
    r"\lbrace": "{", r"\rbrace": "}", r"\lbrack": "[", r"\rbrack": "]", r"\vert": "|", r"\Vert": "‖",
}
"""Delimiters, for the commands left and right."""

SPACES = {
    ",": "0.1667em", ":": "0.2222em", ">": "0.2222em", ";": "0.2778em", "!": "-0.1667em", " ": "0.25em",
    "quad": "1em", "qquad": "2em", "thinspace": "0.1667em", "enspace": "0.5em",
}
"""The widths of spaces."""

ENVIRONMENTS = {  # the class of the table, and its delimiters
    "aligned": ("sg-aligned", "", ""), "align*": ("sg-aligned", "", ""), "align": ("sg-aligned", "", ""),
    "split": ("sg-aligned", "", ""), "gathered": ("", "", ""),
    "cases": ("sg-cases", "{", ""), "matrix": ("", "", ""), "smallmatrix": ("", "", ""),
    "pmatrix": ("", "(", ")"), "bmatrix": ("", "[", "]"), "vmatrix": ("", "|", "|"), "Vmatrix": ("", "‖", "‖"),
}
"""Environments of rows and columns."""

ESCAPES = frozenset("_{}&%#$ ")
"""Characters that a backslash escapes."""
# fmt: on
