"""A loaded kernel of an elementwise program: a NumPy ufunc again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from symgrad.compiler.kernels.calls.elementwise_calls import ElementwiseCalls
from symgrad.compiler.loader.base import Loaded, OwnedCode

if TYPE_CHECKING:
    from symgrad.compiler.llvm.call_stubs.point_functions import PointFunctions


class _LoadedLoop:
    """The code of a file, as calls need it of `ElementwiseCode`. Its loop knows the plan, and needs no cell."""

    cell = 0
    quick = False

    def __init__(self, loop: int, point: int, kinds: Sequence[str], nin: int, code: OwnedCode) -> None:
        self.loop, self._point = loop, point
        self._kinds, self._nin, self._code = kinds, nin, code

    def point(self) -> PointFunctions:
        # for start-up time
        from symgrad.compiler.llvm.call_stubs.point_functions import NUMBERS, POINT, PointFunctions

        known = {POINT: self.loop, NUMBERS: self._point}
        return PointFunctions(known, self._kinds, self._nin, self._code)


@final
class LoadedKernel(ElementwiseCalls, Loaded):
    """A kernel of an elementwise program from a file: like `Kernel`, but without formulas.

    Args:
        code: the owner of the machine code.
        note: the metadata of the file.
    """

    __slots__ = ElementwiseCalls._STATE

    def __init__(self, code: OwnedCode, note: Mapping[str, Any]) -> None:
        Loaded.__init__(self, code, note)
        point = code.address(note["functions"]["point"])
        kinds = [kind.name for kind in self.kinds]
        loop: Any = _LoadedLoop(self._addresses[0], point, kinds, len(self.inputs), code)
        bounded = [k for k, plain in enumerate(note["inputs"]) if plain.get("domain") is not None]
        self._prepare(loop, bounded, 0, piece=math.inf, large=math.inf)
