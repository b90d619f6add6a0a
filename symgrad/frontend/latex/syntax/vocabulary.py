r"""Tables of the meanings of LaTeX commands: functions, signs, brackets, accents, skipped and refused commands."""

from __future__ import annotations

# fmt: off
GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
    "varepsilon", "vartheta", "varphi", "varpi", "varrho", "varsigma",
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
    "ell", "hbar",  # these are letters of their own, written like Greek ones
))

FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "sec": "sec", "csc": "csc", "cot": "cot",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "coth": "coth",
    "exp": "exp", "log": "log", "ln": "log", "lg": "log10",
    "max": "max", "min": "min", "det": "det",
}
"""Commands whose argument may have brackets or not, with their names in the notation."""

WORDS = {
    "tr": "trace", "Tr": "trace", "Trace": "trace", "ReLU": "relu", "GELU": "gelu", "ELU": "elu", "SiLU": "silu",
    "sg": "stop_gradient", "stopgrad": "stop_gradient", "detach": "stop_gradient",
    "sgn": "sign", "Var": "var", "std": "std", "avg": "mean", "arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "arccot": "acot", "arcsec": "asec", "arccsc": "acsc",
    "Ei": "expi", "Ai": "airyai", "Bi": "airybi", "onehot": "one_hot", "Diag": "diag", "lse": "logsumexp",
    "LSE": "logsumexp", "tg": "tan", "ctg": "cot", "sh": "sinh", "ch": "cosh", "th": "tanh",
    "broadcast": "broadcast_to", "Beta": "beta", "B": "beta", "sigm": "sigmoid", "arctg": "atan",
    "Sigmoid": "sigmoid", "Softmax": "softmax",
    "Huber": "huber", "logistic": "sigmoid", "ln": "log", "Re": "", "Im": "",
    "prod_others": "prod_except",
}
"""Upright words that have another name in the notation."""

BIG = {"sum": "sum", "prod": "prod", "max": "max", "min": "min", "sup": "", "inf": "", "lim": "", "int": ""}

ACCENTS = {
    "hat": "hat", "widehat": "hat", "bar": "bar", "overline": "bar", "tilde": "tilde", "widetilde": "tilde",
    "dot": "dot", "ddot": "ddot", "check": "check", "breve": "breve", "acute": "acute", "grave": "grave",
    "underline": "", "vec": "", "overrightarrow": "",
}
"""Marks above a letter, with the suffix that each adds to the name; the arrow of a vector adds none."""

STYLES = {
    "mathbf": "bold", "boldsymbol": "bold", "bm": "bold", "pmb": "bold", "symbf": "bold", "bold": "bold",
    "mathcal": "script", "mathscr": "script", "mathfrak": "fraktur", "mathbb": "blackboard", "mathds": "blackboard",
    "mathtt": "typewriter", "mathsf": "sans", "mathit": "italic", "mathnormal": "", "mathrm": "upright",
    "textrm": "upright", "operatorname": "operator", "operatorname*": "operator", "textbf": "bold", "textit": "upright",
    "text": "upright", "mbox": "upright", "textsf": "upright", "mathup": "upright", "texttt": "typewriter",
}
"""Alphabets."""

OPERATORS = {
    "cdot": "cdot", "times": "times", "ast": "cdot", "odot": "odot", "circ": "odot", "otimes": "otimes", "div": "/",
    "bullet": "cdot", "bmod": "mod", "setminus": "", "oplus": "", "ominus": "", "star": "cdot",
}
"""Signs between factors; an empty one is refused."""

RELATIONS = {
    "=": "=", "<": "<", ">": ">", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "approx": "approx", "simeq": "approx", "equiv": "=",
    "triangleq": "=", "coloneqq": "=", "doteq": "=", "propto": "propto", "sim": "sim", "in": "in", "to": "to",
    "rightarrow": "to", "gets": "=", "leftarrow": "=", "ll": "ll", "gg": "gg", "mapsto": "to", "subset": "in",
    "Rightarrow": "implies", "implies": "implies", "iff": "iff", "Leftrightarrow": "iff", "notin": "in",
}

BRACKETS = {
    "(": ")", "[": "]", "{": "}", "|": "|", "‖": "‖", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉",
}
"""Opening brackets, with the brackets that close them; commands are converted to these signs first."""

SIZES = frozenset((
    "big", "Big", "bigg", "Bigg", "bigl", "Bigl", "biggl", "Biggl", "bigr", "Bigr", "biggr", "Biggr",
    "bigm", "Bigm", "biggm", "Biggm", "middle",
))
"""Sizes of brackets."""

SKIPPED = frozenset((
    ",", ";", ":", "!", " ", ">", "/", "quad", "qquad", "thinspace", "medspace", "thickspace", "negthinspace",
    "displaystyle", "textstyle", "scriptstyle", "scriptscriptstyle", "limits", "nolimits", "nonumber", "notag",
    "allowbreak", "noindent", "centering", "enspace", "relax", "left.", "right.", "hfill", "par", "protect",
))
"""Spaces and instructions to the typesetter."""

LAYOUTS = frozenset((
    "equation", "align", "aligned", "alignat", "gather", "gathered", "split", "eqnarray", "multline", "displaymath",
    "math", "flalign", "subequations", "alignedat",
))
"""Environments of formulas, one or several lines."""

MATRICES = frozenset(("matrix", "pmatrix", "bmatrix", "vmatrix", "Bmatrix", "Vmatrix", "smallmatrix", "array"))

CONSTANTS = frozenset(("pi", "infty"))
"""Commands that are values themselves."""

REFUSED = {
    **dict.fromkeys(("int", "iint", "iiint", "oint"), (
        "integrals are not read", "write the integral's value, or compute it in SciPy and pass it as an input")),
    **dict.fromkeys(("lim", "limsup", "liminf"), (
        "limits are not read", "write the value that the limit has")),
    **dict.fromkeys(("sup", "inf"), (
        "a supremum or infimum is not read", r"write \max or \min over the entries of an array")),
    **dict.fromkeys(("pm", "mp"), (
        "two signs at once are two formulas", "write one formula with + and one with -")),
    **dict.fromkeys(("forall", "exists", "nexists"), (
        "quantifiers are not part of a formula", "write the formula alone")),
    **dict.fromkeys(("cup", "cap", "emptyset", "subseteq", "supset", "bigcup", "bigcap", "setminus", "cupdot"), (
        "sets are not read", "write numbers and arrays")),
    **dict.fromkeys(("Pr",), (
        "probabilities of events are not read", "write the density or the distribution function as a formula")),
    **dict.fromkeys(("argmax", "argmin", "arg"), (
        "the place of an extremum has no derivative", r"write \max or \min for the value, or the place as an input")),
    **dict.fromkeys(("Re", "Im", "imath", "jmath", "overline{z}"), (
        "complex numbers are not read", "write the real and the imaginary part as two real names")),
    **dict.fromkeys(("gcd", "hom", "ker", "dim", "deg"), (
        "this function has no derivative", "pass its value as an input")),
    **dict.fromkeys(("oplus", "ominus", "wr", "amalg", "bigoplus", "bigotimes"), (
        "this sign has no meaning here", r"write \odot for products entry by entry, \otimes for Kronecker's product")),
    **dict.fromkeys(("aleph", "wp", "beth"), (
        "this letter is not a name here", r"write a letter of your own, such as \mathrm{hbar}")),
    **dict.fromkeys(("includegraphics", "cite", "ref", "eqref", "footnote", "caption", "section", "item"), (
        "this is no part of a formula", "write the formula alone")),
    **dict.fromkeys(("over", "atop", "choose"), (
        "fractions of plain TeX are not read", r"write \frac{a}{b}, or \binom{n}{k}")),
}
"""Commands that are always refused, with the fault and the cure."""
# fmt: on
