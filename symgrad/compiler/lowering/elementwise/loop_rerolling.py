"""Copies of a piece of graph, grown in lockstep from equations that look alike.

A row is one equation of every copy. An operand or a reader of a row joins in all copies at once, as a new row, if in
most of them it has the same code, is not taken and is no other copy's too; the few where it does not fit are given up.

No cycle may arise between copies, nor through what is between them. In an order of all equations that is known, a copy
is put where its last equation stands: then it is enough that what it computes for others is read only after that. A
reader that reads nothing else can always join; afterwards another order is needed, in which the copies are stretches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symgrad.compiler.lowering.cost import own_cost
from symgrad.compiler.lowering.elementwise.isomorphic_nodes import Bools, Ints, NumberedGraph

__all__ = ["FEWEST", "LEAST", "PART", "Group", "Growth"]

FEWEST = 4
"""Copies of a group."""

LEAST = 300
"""Equations that a group must save."""

PART = 16
"""And at least the graph's size divided by this."""

_ROWS = 160
"""Rows of a copy: beyond, a loop over copies gains little, and its code waits for registers."""

_JOINED = 48
"""Copies of fewer rows are joined, neighbour to neighbour, so that values pass from one to the next in registers."""

_TRAFFIC = 1.1
"""Loads and stores for each simple operation: more take longer than the operations."""

_TRIALS = 5
"""Orders that are tried for a group because a row does not fit in many copies in the order that is known."""

_TRUSTED = 3
"""Rows of a group for which this is done."""

_DOWN, _UP, _LONE = range(3)
"""Ways to a row: an operand of another, a reader, a reader that reads nothing else."""

RowOrigin = tuple[int, int, int, int]
"""How a row was found: which way, from which row, as or by which operand, and its key."""


@dataclass(slots=True)
class Group:
    """Copies: an array of equations for every row, with one for each copy.

    Args:
        rows: the equations.
        ids: what `Growth.owner` says of the equations of a copy.
        top: the place of its last equation.
        steps: how each row but the first was found.
    """

    rows: list[Ints]
    ids: Ints
    top: Ints
    steps: list[RowOrigin]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def size(self) -> int:
        """How many equations the copies are."""
        return len(self.ids) * len(self.rows)

    def chosen(self, keep: Bools) -> Group:
        """Return some of the copies."""
        return Group([row[keep] for row in self.rows], self.ids[keep], self.top[keep], self.steps)


@dataclass(frozen=True, slots=True)
class _Found:
    """What could be a row: an equation for every copy, where it has the same code, and where also the order is kept."""

    nodes: Ints
    alike: Bools
    late: Bools
    top: Ints  # the place of the last equation of each copy then


class Growth:
    """Grows groups in a graph, one after the other.

    Args:
        graph: the graph, linked.

    Attributes:
        taken: what is in a group for good, and what can be in none.
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
        """Keep a group for good."""
        for row in group.rows:
            self.taken[row] = True
            self._unit[row] = group.rows[0]
        self._order(self._unit)

    def grown(self, seeds: Ints) -> Group | None:
        """Let copies grow from seeds.

        Returns:
            The copies in the order in which they can be computed, and their rows likewise; None if a loop over them
            would not pay.
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
        """Return the copies, joined if that is possible, if they pay and can be computed one after the other."""
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
        """Make room around the copies: what need not be computed among them comes after. False if that cannot be."""
        unit = self._unit.copy()
        for row in group.rows:
            unit[row] = group.rows[0]
        if not self._order(unit):
            return False
        group.top = np.max([self._pos[row] for row in group.rows], axis=0)
        return True

    def _late(self, nodes: Ints, ids: Ints, top: Ints) -> Bools:
        """Tell which nodes are read outside their copies only after the copies' last equations."""
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
        """Narrow down to what one copy alone has found."""
        return fits & (np.bincount(found[fits], minlength=self.graph.n + 1)[found] == 1)

    def _joins(self, group: Group, found: _Found, step: RowOrigin) -> Group:
        """Add a row where it fits, unless fewer equations were in copies then."""
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
        """Return where a step leads from each copy."""
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
        # The copy ends later with the reader, and nothing of the copy may be read before that.
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
        """Return the group with copies of other colours: at the ends of a chain equations only look different."""
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
        """Leave the copies with the wiring that most have, in the order of their ends."""
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
        """Return short copies joined, neighbour to neighbour; None if that cannot be or few would be left."""
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
        """Tell whether a loop saves enough, and computes enough for what it loads and stores."""
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
