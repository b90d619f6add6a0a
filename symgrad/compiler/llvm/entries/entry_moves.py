"""IR of the functions that move the entries of points to buffers with a row for each entry, and back.

Tiles of T points and T entries are transposed in registers, where the entries of a point are contiguous. The last tile
of an argument begins early enough to end with the last entry, so only an argument with fewer entries than a tile needs
masks. All other points are moved entry by entry.
"""

from __future__ import annotations

from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType

# Move one argument: whole tiles if its entries are contiguous, and all other points entry by entry.
_MOVE = """\
define internal void @entries.${way}(ptr %array, i64 %step, ptr %buffer, i64 %row, i64 %count, i64 %m, i64 %padded,
    i64 %dense, ptr %offsets, i64 %size) #0 {
entry:
  %is.dense = icmp ne i64 %dense, 0
  %whole = and i64 %m, -${tile}
  %tiled = select i1 %is.dense, i64 %whole, i64 0
  %any = icmp sgt i64 %tiled, 0
  br i1 %any, label %points, label %rest
points:
  %p = phi i64 [ 0, %entry ], [ %p.next, %points.done ]
  %p.skip = mul i64 %p, %step
  %p.array = getelementptr i8, ptr %array, i64 %p.skip
  %p.bytes = mul i64 %p, ${itemsize}
  %p.buffer = getelementptr i8, ptr %buffer, i64 %p.bytes
  br label %tiles
tiles:
  %c.turn = phi i64 [ 0, %points ], [ %c.next, %tiles.done ]
  %c.last = sub i64 %count, ${tile}
  %full = icmp sge i64 %c.last, 0
  %c.beyond = icmp sgt i64 %c.turn, %c.last
  %c.back = and i1 %full, %c.beyond
  %c = select i1 %c.back, i64 %c.last, i64 %c.turn
  %c.bytes = mul i64 %c, ${itemsize}
  %c.array = getelementptr i8, ptr %p.array, i64 %c.bytes
  %c.row = mul i64 %c, %row
  %c.buffer = getelementptr i8, ptr %p.buffer, i64 %c.row
  br i1 %full, label %all, label %some
all:
${all}  br label %tiles.done
some:
  %count.lane = insertelement <${tile} x i64> poison, i64 %count, i64 0
  %count.lanes = shufflevector <${tile} x i64> %count.lane, <${tile} x i64> poison, <${tile} x i32> zeroinitializer
  %mask = icmp slt <${tile} x i64> <${lanes}>, %count.lanes
${some}  br label %tiles.done
tiles.done:
  %c.next = add i64 %c.turn, ${tile}
  %c.more = icmp slt i64 %c.next, %count
  br i1 %c.more, label %tiles, label %points.done
points.done:
  %p.next = add i64 %p, ${tile}
  %p.more = icmp slt i64 %p.next, %tiled
  br i1 %p.more, label %points, label %rest
rest:
  %over = sub i64 %padded, %tiled
  %more = icmp sgt i64 %over, 0
  br i1 %more, label %single, label %done
single:
  %real = sub i64 %m, %tiled
  %last = sub i64 %real, 1
  %skip = mul i64 %tiled, %step
  %from = getelementptr i8, ptr %array, i64 %skip
  %bytes = mul i64 %tiled, %size
  %into = getelementptr i8, ptr %buffer, i64 %bytes
  br label %one
one:
  %e = phi i64 [ 0, %single ], [ %e.next, %one ]
  %e.offset.at = getelementptr i64, ptr %offsets, i64 %e
  %e.offset = load i64, ptr %e.offset.at
  %e.array = getelementptr i8, ptr %from, i64 %e.offset
  %e.row = mul i64 %e, %row
  %e.buffer = getelementptr i8, ptr %into, i64 %e.row
  call void @ufunc.copy(${copy}, i64 %over, i64 %last, i64 %size)
  %e.next = add i64 %e, 1
  %e.more = icmp slt i64 %e.next, %count
  br i1 %e.more, label %one, label %done
done:
  ret void
}
"""

_COPY = {
    "in": "ptr %e.array, i64 %step, ptr %e.buffer, i64 %size",
    "out": "ptr %e.buffer, i64 %size, ptr %e.array, i64 %step",
}


def move_functions(real: FloatType, tile: int) -> str:
    """Return the functions ``entries.in`` and ``entries.out``, which move one argument of a block of points.

    Args:
        real: the format of numbers.
        tile: the points and entries of a tile, a power of two: the lanes of a vector.
    """
    found: list[str] = []
    for way, copy in _COPY.items():
        parts = {
            "itemsize": real.itemsize,
            "tile": tile,
            "lanes": ", ".join(f"i64 {i}" for i in range(tile)),
            "way": way,
            "copy": copy,
            "all": _tile(real, tile, way, masked=False),
            "some": _tile(real, tile, way, masked=True),
        }
        found.append(fill_template(_MOVE, parts))
    vector, suffix = f"<{tile} x {real.llvm}>", f"v{tile}f{real.bits}.p0"
    found += [
        f"declare {vector} @llvm.masked.load.{suffix}(ptr, i32, <{tile} x i1>, {vector})",
        f"declare void @llvm.masked.store.{suffix}({vector}, ptr, i32, <{tile} x i1>)",
    ]
    return "\n".join(found)


def _tile(real: FloatType, tile: int, way: str, *, masked: bool) -> str:
    """Return the code that transposes a tile: rows of an array to rows of a buffer, or the other way."""
    x = f"{way}.{'some' if masked else 'all'}"
    vector = f"<{tile} x {real.llvm}>"
    suffix = f"v{tile}f{real.bits}.p0"
    lines: list[str] = []

    def places(which: str, step: str) -> None:
        for i in range(tile):
            lines.append(f"  %{x}.{which}.s{i} = mul i64 {step}, {i}")
            lines.append(f"  %{x}.{which}{i} = getelementptr i8, ptr %c.{which}, i64 %{x}.{which}.s{i}")

    places("array", "%step")
    places("buffer", "%row")
    source, target = ("array", "buffer") if way == "in" else ("buffer", "array")
    for i in range(tile):
        place = f"%{x}.{source}{i}"
        if masked and way == "in":
            call = f"call {vector} @llvm.masked.load.{suffix}"
            lines.append(
                f"  %{x}.v0.{i} = {call}(ptr {place}, i32 1, <{tile} x i1> %mask, {vector} zeroinitializer)"
            )
        else:
            lines.append(f"  %{x}.v0.{i} = load {vector}, ptr {place}, align 1")
    stage, half = 0, 1
    while half < tile:
        for i in range(tile):
            low, high = i & ~half, i | half
            picks = [
                (j if not j & half else tile + (j & ~half))
                if i == low
                else (j | half if not j & half else tile + j)
                for j in range(tile)
            ]
            order = ", ".join(f"i32 {p}" for p in picks)
            lines.append(
                f"  %{x}.v{stage + 1}.{i} = shufflevector {vector} %{x}.v{stage}.{low}, {vector} %{x}.v{stage}.{high}, "
                f"<{tile} x i32> <{order}>"
            )
        stage, half = stage + 1, 2 * half
    for i in range(tile):
        place, value = f"%{x}.{target}{i}", f"%{x}.v{stage}.{i}"
        if masked and way == "out":
            lines.append(
                f"  call void @llvm.masked.store.{suffix}({vector} {value}, ptr {place}, i32 1, <{tile} x i1> %mask)"
            )
        elif masked and i:  # the next row is that of another argument if there are no more entries
            lines += [
                f"  %{x}.more{i} = icmp sgt i64 %count, {i}",
                f"  br i1 %{x}.more{i}, label %{x}.row{i}, label %tiles.done",
                f"{x}.row{i}:",
                f"  store {vector} {value}, ptr {place}, align 1",
            ]
        else:
            lines.append(f"  store {vector} {value}, ptr {place}, align 1")
    return "\n".join(lines) + "\n"
