from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.analysis.explain.derivation import explain
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import OPS, symbol
from symgrad.ir.types import Declaration
from symgrad.printing.pictures.layout import place
from symgrad.printing.pictures.picture import Highlight, picture
from symgrad.printing.pictures.plot import Curve, plot_svg
from symgrad.printing.pictures.svg import graph_svg
from symgrad.printing.texts.derivation import derivation_highlight, derivation_svg
from tests.analysis.explain.programs import TRICKS
from tests.graphs import inputs, noise, random_graph

SVG = "{http://www.w3.org/2000/svg}"


def tricks(of="z_inner"):
    listing = parse_program(TRICKS)
    return explain(listing[of], [listing["x"]], listing)


def boxes_of(svg):
    root = ElementTree.fromstring(svg)
    return [
        tuple(at(r, "x", "y", "width", "height")) for r in root.iter(SVG + "rect") if r.get("class") == "box"
    ]


def at(element, *keys):
    """The numbers in some attributes."""
    return [float(element.get(k, "nan")) for k in keys]


def texts_of(svg):
    return ["".join(t.itertext()) for t in ElementTree.fromstring(svg).iter(SVG + "text")]


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


# -- layout -----------------------------------------------------------------------------------------------------------


def random_dag(seed):
    rng = random.Random(seed)
    count = rng.randrange(1, 40)
    edges = {
        (rng.randrange(max(0, t - 12), t), t)
        for t in range(1, count)
        for _ in range(rng.choice((0, 1, 2, 2, 3)))
    }
    widths = [rng.uniform(40, 260) for _ in range(count)]
    heights = [rng.choice((32.0, 48.0, 64.0)) for _ in range(count)]
    return widths, heights, sorted(edges)


def sampled(route):
    """Points along a route, curves as `_path` draws them."""
    for i, ((ax, ay), (bx, by)) in enumerate(zip(route.points, route.points[1:], strict=False)):
        for n in range(21):
            t = n / 20
            if i % 2 == 0:
                yield ax, ay + (by - ay) * t
            else:
                bend = 0.55 * (by - ay)
                weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
                xs, ys = (ax, ax, bx, bx), (ay, ay + bend, by - bend, by)
                yield (
                    sum(w * v for w, v in zip(weights, xs, strict=True)),
                    sum(w * v for w, v in zip(weights, ys, strict=True)),
                )


@given(st.integers(0, 10**6))
def test_boxes_do_not_overlap_and_edges_avoid_boxes(seed):
    widths, heights, edges = random_dag(seed)
    layout = place(widths, heights, edges)
    rects = [
        (x - w / 2, y - h / 2, w, h) for (x, y), w, h in zip(layout.centres, widths, heights, strict=True)
    ]
    for i, a in enumerate(rects):
        assert -0.01 <= a[0] <= a[0] + a[2] <= layout.width + 0.01
        assert -0.01 <= a[1] <= a[1] + a[3] <= layout.height + 0.01
        assert not any(overlap(a, b) for b in rects[:i])
    for (source, target), route in zip(edges, layout.routes, strict=True):
        (x0, y0), (x1, y1) = route.points[0], route.points[-1]
        assert abs(x0 - layout.centres[source][0]) < widths[source] / 2
        assert abs(x1 - layout.centres[target][0]) < widths[target] / 2
        assert y0 == pytest.approx(rects[source][1] + rects[source][3])
        assert y1 == pytest.approx(rects[target][1])
        assert y0 < y1
        for x, y in sampled(route):
            inside = [
                i for i, (a, b, w, h) in enumerate(rects) if a < x < a + w and b + 0.01 < y < b + h - 0.01
            ]
            assert not inside


def test_sources_stand_above_their_targets():
    layout = place([50.0] * 4, [30.0] * 4, [(0, 1), (1, 2), (0, 3), (2, 3)])
    heights = [y for _, y in layout.centres]
    assert heights == sorted(heights)
    assert len(set(heights)) == 4


def test_a_tree_has_no_crossings():
    edges = [(2 * i + k + 1, i) for i in range(7) for k in (0, 1)]
    flipped = [(14 - a, 14 - b) for a, b in edges]
    layout = place([60.0] * 15, [30.0] * 15, sorted(flipped))
    for i, (a, b) in enumerate(sorted(flipped)):
        for c, d in sorted(flipped)[:i]:
            at = layout.centres
            if at[a][1] == at[c][1] and at[b][1] == at[d][1]:
                assert (at[a][0] - at[c][0]) * (at[b][0] - at[d][0]) >= -1e-6


def test_a_leaf_stands_just_above_its_first_use():
    layout = place([50.0] * 4, [30.0] * 4, [(0, 2), (2, 3), (1, 3)])
    assert layout.centres[1][1] == layout.centres[2][1]


# -- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["z", "z_inner", "z_outer", "z_exact"])
def test_well_formed_and_apart(of):
    svg = derivation_svg(tricks(of))
    rects = boxes_of(svg)
    assert len(rects) >= 5
    assert not any(overlap(a, b) for i, a in enumerate(rects) for b in rects[:i])


@given(st.integers(0, 10**5))
def test_random_graphs_are_drawn(seed):
    u = noise()
    y = random_graph(seed, [*inputs(2), u], size=14, stops=0.2)
    svg = derivation_svg(explain(y, [inputs(2)[0]], None))
    root = ElementTree.fromstring(svg)
    rects = boxes_of(svg)
    assert not any(overlap(a, b) for i, a in enumerate(rects) for b in rects[:i])
    width, height = at(root, "width", "height")
    (x, y_top) = map(float, next(g for g in root.iter(SVG + "g")).get("transform", "")[10:-1].split())
    assert all(
        a >= -x and b >= -y_top and a + w + x <= width and b + h + y_top <= height for a, b, w, h in rects
    )


def test_text_stays_inside_its_box():
    root = ElementTree.fromstring(derivation_svg(tricks()))
    rects = boxes_of(derivation_svg(tricks()))
    fixed = [t for t in root.iter(SVG + "text") if t.get("textLength")]
    assert len(fixed) > 8
    for text in fixed:
        left, base, length = at(text, "x", "y", "textLength")
        assert any(
            x < left and left + length < x + w and y < base - 8 and base + 3 < y + h for x, y, w, h in rects
        )


def test_what_the_picture_of_the_inner_trick_shows():
    d = tricks()
    shown = picture([d.y], d.naming.names, derivation_highlight(d), 200)
    label = [b.name or b.text for b in shown.boxes]
    path = {(label[e.source], label[e.target]) for e in shown.edges if e.noisy}
    assert path == {
        ("u ~ Uniform(0.9, 1.1)", "yu"),
        ("yu", "yu - y"),
        ("yu - y", "stop_gradient(yu - y)"),
        ("stop_gradient(yu - y)", "stop_gradient(yu - y) + y"),
        ("stop_gradient(yu - y) + y", "z_inner"),
    }
    assert {(label[e.source], label[e.target]) for e in shown.edges if e.derivative} == {
        ("x : real", "y"),
        ("y", "stop_gradient(yu - y) + y"),
        ("stop_gradient(yu - y) + y", "z_inner"),
    }
    assert [(label[e.source], label[e.target]) for e in shown.edges if e.cut] == [
        ("yu - y", "stop_gradient(yu - y)")
    ]
    by_kind = {b.kind: b for b in shown.boxes}
    assert set(by_kind) == {"input", "random", "op", "stop"}
    (output,) = (b for b in shown.boxes if b.output)
    assert (output.name, output.text) == ("z_inner", "sqrt(stop_gradient(yu - y) + y)")
    assert output.remark == "read by the pullback of sqrt"
    svg = derivation_svg(d)
    assert svg.count('class="noise"') == 5
    caption = " ".join(texts_of(svg))
    assert "u enters the gradient: the pullback of sqrt reads the forward value z_inner" in caption
    assert "path of the noise" in caption


def test_a_free_noise_has_no_path():
    svg = derivation_svg(tricks("z_outer"))
    assert 'class="noise"' not in svg
    assert "path of the noise" not in " ".join(texts_of(svg))
    assert "u does not enter the gradient" in " ".join(texts_of(svg))


def test_one_noise_of_several():
    listing = parse_program("x : real\nu ~ Uniform(0.9, 1.1)\nv ~ Normal(0, 1)\ny = x*u*v")
    d = explain(listing["y"], [listing["x"]], listing)
    both, one = derivation_svg(d), derivation_svg(d, "v")
    assert "u enters" in both
    assert "u enters" not in one
    assert "v enters" in one


def test_names_are_escaped():
    evil = symbol(Declaration('<script>&"\x07'))
    y = OPS["sin"](evil)
    svg = graph_svg([y], {y: "a<b & 'c'"}, highlight=Highlight(captions=["<&>"]), title="<title>")
    assert "<script>" not in svg
    found = texts_of(svg)
    assert "a<b & 'c'" in found
    assert "<&>" in found
    assert '<script>&"\N{REPLACEMENT CHARACTER} : real' in found


def test_a_page_of_its_own_background():
    root = ElementTree.fromstring(derivation_svg(tricks()))
    first = next(root.iter(SVG + "rect"))
    assert (first.get("width"), first.get("fill")) == ("100%", "#ffffff")


def test_large_graphs_show_the_neighbourhood_of_the_path():
    lines = ["x : real", "u ~ Uniform(0.9, 1.1)", "a0 = x + u"]
    lines += [f"a{i} = sin(a{i - 1}) + x" for i in range(1, 1500)]
    listing = parse_program("\n".join(lines))
    y = listing["a1499"]
    path = (*(listing[f"a{i}"] for i in range(1499, -1, -1)), listing["u"])
    highlight = Highlight(paths=[path])
    shown = picture([y], listing.name_of(), highlight, 60)
    assert len(shown.boxes) == 60
    assert shown.total == 3001
    (bridge,) = (e for e in shown.edges if e.skipped)
    assert bridge.noisy
    svg = graph_svg([y], listing.name_of(), highlight=highlight, limit=60)
    caption = " ".join(texts_of(svg))
    assert "60 of 3001 equations are drawn: the neighbourhood of the path." in caption
    assert f"Dotted: {bridge.skipped} equations of the path are not drawn." in caption
    rects = boxes_of(svg)
    assert len(rects) == 60
    assert not any(overlap(a, b) for i, a in enumerate(rects) for b in rects[:i])


def test_constants_and_signs_have_no_boxes():
    listing = parse_program("x : real\ny = 2*0.031*x - pi*x**2")
    shown = picture([listing["y"]], listing.name_of(), Highlight(), 200)
    assert [b.name or b.text for b in shown.boxes] == ["x : real", "2*0.031*x", "x**2", "pi*x**2", "y"]
    assert len(shown.edges) == 5


def test_a_single_symbol():
    x = symbol(Declaration("x"))
    svg = derivation_svg(explain(x, [x], None))
    assert len(boxes_of(svg)) == 1


def test_points_that_are_equal_do_not_hide_each_other():
    same = [0.0, 1.0, 2.0]
    root = ElementTree.fromstring(
        plot_svg([Curve(name, same, same, points=True) for name in ("formula", "kernel")], "bits", "x", "y")
    )
    drawn = [(at(c, "cx", "cy"), float(c.get("r", "0")), c.get("fill")) for c in root.iter(SVG + "circle")]
    first, second = drawn[:3], drawn[4:7]  # each with the mark of its legend behind it
    assert [c for c, _, _ in first] == [c for c, _, _ in second]
    assert all(around > dot for (_, around, _), (_, dot, _) in zip(first, second, strict=True))
    assert {fill for _, _, fill in first} == {"none"}
