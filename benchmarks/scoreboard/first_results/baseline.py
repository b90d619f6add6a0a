import llvmlite.binding  # noqa: F401  (what is measured)
import numpy  # noqa: F401  (what is measured)
