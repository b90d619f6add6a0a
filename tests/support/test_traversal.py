"""Traversals against their recursive definitions, on random graphs; and a chain that no recursion could follow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from symgrad.support.traversal import leaves, postorder, walk

_DEEP = 100_000

Graph = dict[int, list[int]]


@st.composite
def _graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph without circles: edges lead to smaller numbers."""
    size = draw(st.integers(1, 12))
    return {i: draw(st.lists(st.integers(0, i - 1), max_size=4)) if i else [] for i in range(size)}


def _preorder(graph: Graph, vertex: int, found: list[int]) -> list[int]:
    if vertex not in found:
        found.append(vertex)
        for child in graph[vertex]:
            _preorder(graph, child, found)
    return found


def _after_children(graph: Graph, vertex: int, found: list[int]) -> list[int]:
    if vertex not in found:
        for child in graph[vertex]:
            _after_children(graph, child, found)
        found.append(vertex)
    return found


def _flat(graph: Graph, vertex: int) -> list[int]:
    return [leaf for child in graph[vertex] for leaf in _flat(graph, child)] if graph[vertex] else [vertex]


@given(_graphs(), st.data())
def test_orders_are_those_of_the_definitions(graph: Graph, data: st.DataObject) -> None:
    roots = data.draw(st.lists(st.sampled_from(sorted(graph)), max_size=3))
    first, last = list[int](), list[int]()
    for root in roots:
        _preorder(graph, root, first)
        _after_children(graph, root, last)
    assert list(walk(roots, graph.__getitem__)) == first
    assert postorder(roots, graph.__getitem__) == last


@given(_graphs(), st.data())
def test_a_second_postorder_goes_on_from_the_first(graph: Graph, data: st.DataObject) -> None:
    one, other = data.draw(st.sampled_from(sorted(graph))), data.draw(st.sampled_from(sorted(graph)))
    known = postorder([one], graph.__getitem__)
    both = known + postorder([other], graph.__getitem__, until=set(known))
    assert both == postorder([one, other], graph.__getitem__)


@given(_graphs())
def test_leaves_occur_as_often_as_in_the_nested_operation(graph: Graph) -> None:
    top = max(graph)
    assert leaves(top, lambda v: graph[v] or None) == _flat(graph, top)


def test_depth_is_no_limit() -> None:
    below = {i: [i - 1] if i else [] for i in range(_DEEP)}
    assert len(list(walk([_DEEP - 1], below.__getitem__))) == _DEEP
    assert postorder([_DEEP - 1], below.__getitem__)[0] == 0
    assert leaves(_DEEP - 1, lambda v: below[v] or None) == [0]
