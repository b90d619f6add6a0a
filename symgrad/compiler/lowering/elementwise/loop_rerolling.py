"""Grow copies of a subgraph in lockstep, from equations that look alike.

A row has one equation of every copy. The operands or readers of a row join all copies at once, as a new row. For this
they must fit in most copies: the equation has the same code in each copy, is not taken, and belongs to no other copy.
The few copies in which it does not fit are dropped.

No cycle may arise between copies, directly or through other equations. In the current order of all equations, a copy
counts as computed at the place of its last equation. So there is no cycle if other equations read the results of a copy
only after that place. A reader with no other operands can always join; afterwards a new order is needed, in which the
copies are contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symgrad.compiler.lowering.cost import own_cost
from symgrad.compiler.lowering.elementwise.isomorphic_nodes import Bools, Ints, NumberedGraph

FEWEST = 4
"""Smallest number of copies of a group."""

LEAST = 300
"""Smallest number of equations that a group must save."""

PART = 16
"""A group must also save at least the graph's size divided by this."""

_ROWS = 160
"""The largest number of rows of a copy; with more rows, a loop over copies gains little, and its code runs out of
registers."""

_JOINED = 48
"""Neighbouring copies with fewer rows are joined, so that values pass between them in registers."""

_TRAFFIC = 1.1
"""Largest number of loads and stores per simple operation: more take longer than the operations."""

_TRIALS = 5
"""How many new orders are tried for a group, if a row does not fit in many copies in the current order."""

_TRUSTED = 3
"""A group with at least this many rows may try new orders."""

_DOWN, _UP, _LONE = range(3)
"""Ways to find a row: as an operand of another row, as a reader, or as a reader with no other operands."""

RowOrigin = tuple[int, int, int, int]
"""How a row was found: the way, the other row, the number of the operand, and the row's key."""


@dataclass(slots=True)
class Group:
    """Copies: for every row an array with one equation for each copy.

    Args:
        rows: the equations.
        ids: for each copy, its number in `Growth._owner`.
        top: for each copy, the place of its last equation.
        steps: how each row after the first was found.
    """

    rows: list[Ints]
    ids: Ints
    top: Ints
    steps: list[RowOrigin]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def size(self) -> int:
        """The number of equations in all copies."""
        return len(self.ids) * len(self.rows)

    def chosen(self, keep: Bools) -> Group:
        """Return a group of some of the copies."""
        return Group([row[keep] for row in self.rows], self.ids[keep], self.top[keep], self.steps)


@dataclass(frozen=True, slots=True)
class _Found:
    """A candidate row, with masks of the copies that have equal code (`alike`) and a valid order (`late`)."""

    nodes: Ints
    alike: Bools
    late: Bools
    top: Ints  # the new place of the last equation of each copy


class Growth:
    """Grows groups in a graph, one after the other.

    Args:
        graph: the graph, linked.

    Attributes:
        taken: a mask of equations in final groups, and of nodes that cannot be in a group.
    """

    def __init__(self, graph: NumberedGraph) -> None:
        self.graph = graph
        n = graph.n
        self.taken: Bools = graph.leaf.copy()
        self.taken[n] = True
        self._owner: Ints = np.full(n + 1, -1, np.int64)
        self._unit: Ints = np.arange(n)
        self._pos: Ints = np.arange(n + 1)
        self._trials = 0
        self._order(self._unit)

    def take(self, group: Group) -> None:
        """Make a group final."""
        for row in group.rows:
            self.taken[row] = True
            self._unit[row] = group.rows[0]
        self._order(self._unit)

    def grown(self, seeds: Ints) -> Group | None:
        """Grow copies from seeds.

        Returns:
            The copies and their rows, both in an order in which they can be computed; None if a loop over copies would
            not pay.
        """
        seeds = seeds[np.argsort(self._pos[seeds])]
        group = Group([seeds], np.arange(len(seeds)), self._pos[seeds], [])
        self._own(group)
        self._trials = _TRIALS
        for _ in range(4):
            before = len(group.rows)
            group = self._down(group)
            strict = len(group.rows)
            group = self._up(group, _LONE)
            if len(group.rows) > strict:
                self._reorder(group)
            group = self._up(group, _UP)
            if len(group.rows) == before or len(group.rows) >= _ROWS:
                break
        everywhere = self._others(group) if len(group.rows) > 1 else group
        found = self._legal(everywhere)
        if found is None and everywhere is not group:
            found = self._legal(group)
        self._own(everywhere, -1)
        return found

    def _legal(self, group: Group) -> Group | None:
        """Return the copies, joined if possible; None if they do not pay or cannot be computed one after the other."""
        self._own(group)
        group = self._wired_alike(group)
        for found in (self._joined(group), group):
            if found is not None:
                self._own(group, -1)
                self._own(found)
                if self._pays(found) and self._reorder(found):
                    self._own(found, -1)
                    order = np.argsort(found.top)
                    rows = sorted(found.rows, key=lambda row: int(row[order[0]]))
                    return Group([row[order] for row in rows], found.ids, found.top[order], [])
        return None

    # orders

    def _order(self, unit: Ints) -> bool:
        pos = self.graph.early(unit)
        if pos is None:
            return False
        self._pos[:-1] = pos
        return True

    def _reorder(self, group: Group) -> bool:
        """Reorder all equations so that each copy is contiguous; return False if that is impossible."""
        unit = self._unit.copy()
        for row in group.rows:
            unit[row] = group.rows[0]
        if not self._order(unit):
            return False
        group.top = np.max([self._pos[row] for row in group.rows], axis=0)
        return True

    def _late(self, nodes: Ints, ids: Ints, top: Ints) -> Bools:
        """Return a mask of the nodes that other equations read only after the last equation of the node's copy."""
        uses, which = self.graph.uses(nodes)
        readers = self.graph.reader[uses]
        early = (self._owner[readers] != ids[which]) & (self._pos[readers] <= top[which])
        return np.bincount(which[early], minlength=len(nodes)) == 0

    # rows

    def _own(self, group: Group, owner: int | None = None) -> None:
        for row in group.rows:
            self._owner[row] = group.ids if owner is None else owner

    def _open(self, found: Ints) -> Bools:
        return ~self.taken[found] & (self._owner[found] < 0)

    def _single(self, found: Ints, fits: Bools) -> Bools:
        """Drop the nodes that more than one copy has found."""
        return fits & (np.bincount(found[fits], minlength=self.graph.n + 1)[found] == 1)

    def _joins(self, group: Group, found: _Found, step: RowOrigin) -> Group:
        """Add a row to the copies in which it fits, unless the group would then have fewer equations."""
        for fits in (found.alike, found.late):
            count = int(fits.sum())
            if count < FEWEST or count * (len(group.rows) + 1) < group.size:
                return group
            late = count == int(found.late.sum())
            if not late and (not self._trials or len(group.rows) < _TRUSTED):
                continue
            joined = group.chosen(fits)
            joined.rows.append(found.nodes[fits])
            joined.top = found.top[fits]
            self._own(group, -1)
            self._own(joined)
            if not late:
                self._trials -= 1
            if late or self._reorder(joined):
                joined.steps.append(step)
                return joined
            self._own(joined, -1)
            self._own(group)
        return group

    def _down(self, group: Group) -> Group:
        t = 0
        while t < len(group.rows) < _ROWS:
            for k in range(self.graph.arity):
                nodes = self.graph.args[group.rows[t], k]
                open_ = self._open(nodes)
                if int(open_.sum()) >= FEWEST:
                    keys, count = np.unique(self.graph.key[nodes[open_]], return_counts=True)
                    step = (_DOWN, t, k, int(keys[np.argmax(count)]))
                    group = self._joins(group, self._found(group, step), step)
            t += 1
        return group

    def _up(self, group: Group, way: int) -> Group:
        t = 0
        while t < len(group.rows) < _ROWS:
            uses, _ = self.graph.uses(group.rows[t])
            readers = self.graph.reader[uses]
            open_ = self._open(readers)
            kinds = self.graph.key[readers] * self.graph.arity + self.graph.operand[uses]
            names, first, count = np.unique(kinds[open_], return_index=True, return_counts=True)
            near = self._pos[readers[open_][first]]
            for i in np.argsort(near).tolist():
                if 2 * count[i] >= len(group):
                    key, k = divmod(int(names[i]), self.graph.arity)
                    group = self._joins(group, self._found(group, (way, t, k, key)), (way, t, k, key))
            t += 1
        return group

    def _found(self, group: Group, step: RowOrigin) -> _Found:
        """Return the candidate row to which a step leads."""
        way, t, k, key = step
        graph = self.graph
        if way == _DOWN:
            nodes = graph.args[group.rows[t], k]
            alike = self._single(nodes, self._open(nodes) & (graph.key[nodes] == key))
            late = alike.copy()
            late[alike] = self._late(nodes[alike], group.ids[alike], group.top[alike])
            return _Found(nodes, alike, late, group.top)
        uses, which = graph.uses(group.rows[t])
        readers = graph.reader[uses]
        meant = self._open(readers) & (graph.key[readers] == key) & (graph.operand[uses] == k)
        nodes = np.full(len(group), graph.n)
        nodes[which[meant]] = readers[meant]
        alike = self._single(nodes, np.bincount(which[meant], minlength=len(group)) == 1)
        top = np.maximum(group.top, self._pos[nodes])
        if way == _LONE:
            for operand in graph.args[nodes].T:
                alike &= (self._owner[operand] == group.ids) | (operand == graph.n) | graph.leaf[operand]
            return _Found(nodes, alike, alike, top)
        # With the reader the copy ends later, and no other equation may read its results before its new end.
        ids, rows = group.ids[alike], [*(row[alike] for row in group.rows), nodes[alike]]
        many = len(rows)
        self._owner[nodes[alike]] = ids
        each = self._late(np.concatenate(rows), np.tile(ids, many), np.tile(top[alike], many))
        self._owner[nodes[alike]] = -1
        late = alike.copy()
        late[alike] = each.reshape(many, -1).all(axis=0)
        return _Found(nodes, alike, late, top)

    # copies

    def _others(self, group: Group) -> Group:
        """Add copies of other colours to the group, since equations at the ends of a chain only look different."""
        key = self.graph.key[:-1] == self.graph.key[group.rows[0][0]]
        seeds = np.flatnonzero(key & ~self.taken[:-1] & (self._owner[:-1] < 0))
        if not len(seeds):
            return group
        ids = np.arange(len(seeds)) + int(group.ids.max()) + 1
        more = Group([seeds], ids, self._pos[seeds], [])
        self._own(more)
        for step in group.steps:
            found = self._found(more, step)
            self._own(more, -1)
            more = more.chosen(found.alike)
            more.rows.append(found.nodes[found.alike])
            more.top = found.top[found.alike]
            self._own(more)
        if not len(more):
            return group
        rows = [np.concatenate(pair) for pair in zip(group.rows, more.rows, strict=True)]
        ids, top = (np.concatenate(pair) for pair in ((group.ids, more.ids), (group.top, more.top)))
        return Group(rows, ids, top, group.steps)

    def _wired_alike(self, group: Group) -> Group:
        """Keep the copies with the most common wiring, in the order of their last equations."""
        which = np.full(self.graph.n + 1, -1, np.int64)
        for t, row in enumerate(group.rows):
            which[row] = t
        keep = np.ones(len(group), np.bool_)
        for row in group.rows:
            for operand in self.graph.args[row].T:
                inside = np.where(self._owner[operand] == group.ids, which[operand], -1)
                names, count = np.unique(inside, return_counts=True)
                keep &= inside == names[np.argmax(count)]
        self._own(group, -1)
        group = group.chosen(keep)
        order = np.argsort(group.top)
        group = Group([row[order] for row in group.rows], group.ids[order], group.top[order], group.steps)
        self._own(group)
        return group

    def _joined(self, group: Group) -> Group | None:
        """Join short neighbouring copies; return None if that is impossible or drops more than a tenth of them."""
        times = min(_JOINED // len(group.rows), len(group) // (2 * FEWEST))
        if times < 2:
            return None
        count = len(group) // times
        end = count * times
        rows = [row[s:end:times] for s in range(times) for row in group.rows]
        joined = Group(rows, group.ids[:end:times], group.top[times - 1 : end : times], [])
        self._own(group, -1)
        self._own(joined)
        joined = self._wired_alike(joined)
        self._own(joined, -1)
        self._own(group)
        return joined if 10 * len(joined) >= 9 * count else None

    def _pays(self, group: Group) -> bool:
        """Tell whether a loop saves enough equations, and has enough operations per load and store."""
        graph = self.graph
        if len(group) < FEWEST or group.size - len(group.rows) < max(LEAST, graph.n // PART):
            return False
        cost = sum(own_cost(graph.nodes[int(row[0])]) for row in group.rows)
        loads: set[bytes] = set()
        stores = 0
        for row in group.rows:
            for operand in graph.args[row].T:
                outside = (self._owner[operand] != group.ids) & (operand < graph.n)
                if outside.all() and (operand != operand[0]).any():
                    loads.add(operand.tobytes())
            uses, which = graph.uses(row)
            stores += bool((self._owner[graph.reader[uses]] != group.ids[which]).any())
        return len(loads) + stores <= _TRAFFIC * cost
