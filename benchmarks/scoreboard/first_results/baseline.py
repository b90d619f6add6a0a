import llvmlite.binding  # noqa: F401
import numpy  # noqa: F401
