"""Formulas as people type them without a markup: every character is read, or the line is not understood."""

from __future__ import annotations

import pytest

import symgrad as sg

RIGHT = {
    "a bracket behind an exponent": "y = e^x(1+x)\ny' = e^x(2+x)",
    "a bracket behind an exponent in braces": "y = e^{2x}(1+x)\ny' = e^{2x}(3+2x)",
    "a bracket behind an exponent with a sign": "y = e^-x (1+x)\ny' = -x e^-x",
    "a bracket behind a letter": "A = x(100 - x)\ndA/dx = 100 - 2x",
    "a bracket behind a letter that stands nowhere alone": "q = h (T - Ta)\ndq/dT = h",
    "a bracket behind a derivative": "x^3 + y^3 = 6xy\ndy/dx (3y^2 - 6x) = 6y - 3x^2",
    "a factor before e": "y = xe^x + Ce^{2x}\ny' = (1+x)e^x + 2Ce^{2x}",
    "two names with lowered numbers": "L = α₁α₂ K + 2α₁α₂\ndL/dα₁ = α₂ K + 2α₂",
    "a capital with a small letter": "q = s*(T^4 - Ts^4)\nq/(T - Ts) = s*(T^2+Ts^2)*(T+Ts)\ndq/dT = 4*s*T^3",
    "a word as a factor": "v = Vmax S/(Km + S)\ndv/dS = Vmax Km/(Km + S)^2",
    "a number behind a function": "y = sqrt2 x + sin2x + x ln2\ny' = sqrt2 + 2cos2x + ln2",
    "a letter behind a function": "y = xlnx - sinx\ny' = lnx + 1 - cosx",
    "a root sign": "y = √x + 3√(x+1) + √2 x\ny' = 1/(2√x) + 3/(2√(x+1)) + √2",
    "square brackets": "y = (x+1)/(x^2+3)\ny' = [(x^2+3) - (x+1)(2x)]/(x^2+3)^2",
    "square brackets behind a bracket": "y = (x+4)^2 (2x-1)\ny' = (x+4) [2(2x-1) + 2(x+4)]",
    "factorials of numbers": "y = x⁴/4!\ny′ = x³/3!\ny″ = x²/2",
    "a derivative of fourth order": "f(x) = cos(2x)\nf^(4)(x) = 16cos(2x)\nf^{(3)}(x) = 8 sin(2x)",
    "a derivative of fourth order of a value": "y = cos(2x)\ny^(4) = 16cos(2x)",
    "a power with its exponent in brackets": "y = x^2\nz = y^(4)\ndz/dx = 8x^7",
    "numbers of parts": "Q4 (a) Given y = ln(3x+2), dy/dx = 3/(3x+2)",
    "numbers of examples": "Example 2. y = x^3\nStep 3: dy/dx = 3x^2 ✓\nPart (b) d2y/dx2 = 6x ∎",
    "Roman numbers": "iii) y = x^3\niv) dy/dx = 3x^2 QED",
    "marks": "#1) y = x^3\n#2) dy/dx = 3x^2 [M1]\n#3) d2y/dx2 = 6x ✓ A1",
    "remarks": "f(x) = x^3\nf'(x) = 3x^2  -- power rule\nf''(x) = 6x   // again\nf'''(x) = 6 | constants",
    "a label behind a formula": "y = x^2 [Lineweaver-Burk]\ny' = 2x [m/s]",
    "digits of roundings": "x = sqrt(2) = 1.41 (2dp)\ny = sqrt(3) = 1.73 (3 s.f.)\nt = 18/9.8 = 1.84 s (3 s.f.)",
    "units in words": "h = 5t^2 metres\ndh/dt = 10t metres per second\nd2h/dt2 = 10 metres/second^2",
    "units without a space": "t = 18/9.8 = 1.84s\nh = 4.9*2 = 9.8m",
    "units of quotients": "k = 2*0.025 = 0.05 1/min\nR = 2*4.157 = 8.314 J/(mol K)\nM = 3*100 = 300 Nmm",
    "units between dollars": r"$h = 4.9\cdot 2 = 9.8\,\mathrm{m/s^2}$",
    "decimal commas": "t = 1,84 and g = 9,81\nv = g t = 18,05",
    "a decimal comma in braces": "$x = 3{,}5$\n\n$y = 2x = 7$",
    "a product that is given": "xy = 100\nP = 2x + 2y\nP = 2x + 200/x",
    "shapes in words": "A is m×n, x is n×1, b is m×1\nf(x) = 1/2 ||A x - b||^2\n∇f(x) = Aᵀ (A x − b)",
    "shapes as sets": "X ∈ ℝ^{n×d}, w ∈ ℝ^d\nf(w) = ||X w||²\n∇f(w) = 2 Xᵀ X w",
    "vectors of a space": "u, v vectors in R^d\nL = log(u^T v)\ndL/du = v/(u^T v)",
    "a matrix and a vector": "Let A be an n×n matrix, x an n-vector.\nf(x) = x^T A x\n∇f(x) = (A + A^T) x",
    "letters of arrays": "A is n×n, x is n×1\nd/dx xᵀAx = (A + Aᵀ)x",
    "traces and determinants": "Let A and X be n×n matrices.\nf = tr(A X)\ndf/dX = Aᵀ\nh = log det X\ndh/dX = X⁻ᵀ",
    "inverse matrices": "Let A and X be n×n matrices.\nk = tr(X^-1 A)\ndk/dX = -X^-T Aᵀ X^-T",
    "a dot of vectors": "e = r - p·q where p, q ∈ R^k\nL = e^2/2\ndL/dp = -e q",
    "a symmetric matrix": "K is n×n symmetric, a ∈ ℝⁿ\nJ = aᵀKa\n∇J = 2Ka",
    "an equation behind a sign": "f(x) = x^2\nf'(x) = 2x\n-f'(x) = -2x",
    "a sum over two lines": "f(x) = (x-1)(x+2)\nf'(x) = (x+2)\n  + (x-1) = 2x + 1",
    "a power of a number behind a letter": "y = x 2^(x-1)\ndy/dx = 2^(x-1) + x 2^(x-1) ln 2",
    "a point behind a formula": "The curve y = x² - 3x + 4 passes through P(3, 4).\ndy/dx = 2x - 3",
    "units behind formulas": "A = π r² cm²\ndA/dr = 2π r\nv = 18 - 9.8t m/s\ndv/dt = -9.8 m/s^2",
    "names like units": "cm = 4 b\nA = r cm\ndA/dr = 4b",
    "a long arrow": "y = x^3 + x --> dy/dx = 3x^2 + 1",
    "a function of an absolute value": "y = ln|x|\ny' = 1/x",
    "a power of T": "f = c beta^T\ndf/dc = beta^T",
}
WRONG = {
    "a bracket behind an exponent": "y = e^x(1+x)\ny' = e^x(1+x)",
    "a bracket behind a letter": "A = x(100 - x)\ndA/dx = 100 - x",
    "a factor before e": "y = xe^x + Ce^{2x}\ny' = (1+x)e^x + Ce^{2x}",
    "two names with lowered numbers": "L = α₁α₂ K\ndL/dα₁ = α₁ K",
    "a capital with a small letter": "q = s*(T^4 - Ts^4)\ndq/dT = 4*s*(T^3 - Ts^3)",
    "a word as a factor": "v = Vmax S/(Km + S)\ndv/dS = Vmax S/(Km + S)^2",
    "a number behind a function": "y = sin2x\ny' = cos2x",
    "a letter behind a function": "y = xlnx + 1\ny' = lnx",
    "a root sign": "y = √x\ny' = 1/√x",
    "square brackets": "y = (x+4)^2 (2x-1)\ny' = (x+4) [(2x-1) + 2(x+4)]",
    "factorials of numbers": "y = x⁴/4!\ny′ = x³/4!",
    "a derivative of fourth order": "f(x) = cos(2x)\nf^(4)(x) = -16cos(2x)",
    "numbers of parts": "Q4 (a) Given y = ln(3x+2), dy/dx = 1/(3x+2)",
    "Roman numbers": "iii) y = x^3\niv) dy/dx = 3x QED",
    "marks": "#1) y = x^3\n#2) dy/dx = 2x^2 [M1]",
    "remarks": "f(x) = x^3\nf'(x) = 2x^2  -- power rule",
    "digits of roundings": "y = sqrt(3) = 1.78 (3 s.f.)",
    "units in words": "h = 5t^2 metres\ndh/dt = 5t metres per second",
    "units without a space": "t = 18/9.8 = 1.94s",
    "decimal commas": "t = 1,84 and g = 9,81\nv = g t = 18,25",
    "a product that is given": "xy = 100\nP = 2x + 2y\nP = 2x + 100/x",
    "an equation behind a sign": "f(x) = x^2\nf'(x) = 2x\n-f'(x) = 2x",
    "units behind formulas": "A = π r² cm²\ndA/dr = π r",
    "shapes in words": "A is m×n, x is n×1, b is m×1\nf(x) = 1/2 ||A x - b||^2\n∇f(x) = A (A x − b)",
    "shapes as sets": "X ∈ ℝ^{n×d}, w ∈ ℝ^d\nf(w) = ||X w||²\n∇f(w) = 2 X X w",
    "vectors of a space": "u, v vectors in R^d\nL = log(u^T v)\ndL/du = u/(u^T v)",
    "a matrix and a vector": "Let A be an n×n matrix, x an n-vector.\nf(x) = x^T A x\n∇f(x) = 2 A x",
    "traces": "Let A and X be n×n matrices.\nf = tr(A X)\ndf/dX = A",
}
UNREAD = {
    "a transpose of what nothing declares": "f = u^T v\ndf/du = v",
    "a norm of what nothing declares": "f = ||X w||²\ndf/dw = 2 X X w",
    "an identity matrix": "K is n×n, a ∈ ℝⁿ\nJ = aᵀ(K + 2I)a",
    "two vectors side by side": "u, v vectors in R^d\nL = u v",
    "an integral in words": "integral of x^2 from 0 to 1 = 1/3",
    "an inverse function": "f(x) = x^3 + x\n(f^-1)'(2) = 1/f'(1)",
    "a power of a function": "f(x) = cos(x)\nf^2(x) = cos(x)^2",
    "a derivative of any order": "f(x) = e^(2x)\nf^(n)(x) = 2^n e^(2x)",
    "a square that lost its sign": "y = sin2 x + cos2 x",
    "a word of an operation": "y = half x",
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_line_is_proved(name: str) -> None:
    review = sg.review(RIGHT[name])
    assert review.status in ("proved", "supported"), review.text()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_refuted(name: str) -> None:
    review = sg.review(WRONG[name])
    assert review.status == "refuted", review.text()


@pytest.mark.parametrize("name", UNREAD)
def test_what_has_no_single_reading_is_not_understood(name: str) -> None:
    review = sg.review(UNREAD[name])
    assert review.status == "undecided", review.text()
    assert any(step.kind == "not understood" for step in review.steps), review.text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Facts:\n- a² = (a+1)² − 2a − 1\n- (a−b)² = −(a² − 2ab + b²)", ["proved", "refuted"]),
        ("Facts:\n- sin x = cos(π/2 − x)\n- tan x = sin x/cos x", ["proved", "proved"]),
        ("z = 1\n- sin x = cos(π/2 − x)\n- tan x = cos x/sin x", ["proved", "refuted"]),
        ("* sin x = cos(π/2 − x)\n* tan x = sin x/cos x\n* (a+b)² = a² + 2ab + b²", ["proved"] * 3),
        ("x = 0.1 + 0.2 = 0.3\n- next item", ["proved"]),
        ("z = sin x\n- (a-b)^2 = -(a^2 - 2ab + b^2)", ["undecided"]),  # a bullet, or a sign
        ("z = sin x\n- (a-b)^2 = a^2 - 2ab + b^2", ["undecided"]),
        ("z = sin x\n- (a-b)^2 = a^2 + b^2", ["refuted"]),  # wrong as both
        ("z = cos(π/2 − x) = sin x\n* tan x = sin x/cos x", ["undecided", "undecided"]),
        ("f = sin x\ndf/dx = 3 cos x\n  - 2 cos x = cos x", ["proved", "proved"]),  # deeper: it goes on
        ("y = x^2\ndy/dx = x + x\n- 1 + 1\n= 2x", ["proved", "proved"]),
        ("a = 10, b = 5\n- tan 2t = 2b/(a - b) = 2\n- t = 0.55", ["proved", "supported"]),
    ],
)
def test_a_mark_before_a_line_is_a_bullet_or_a_sign(text: str, expected: list[str]) -> None:
    assert [s.status for s in sg.review(text).steps if s.status] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("share = 3/4 = 75%\ny = 2·3 = 6", ["proved", "proved"]),
        ("rate = 0.1 = 10 %\n\nz = 2·3 = 7", ["proved", "refuted"]),
        ("growth = 1.05^2 − 1 = 10.25%\nln 1.05 = 0.04879", ["proved", "proved"]),
        ("growth = 1.05^2 − 1 = 10.35%", ["refuted"]),
        ("share = 100*3/4 = 75%", ["undecided"]),  # of a number of percents
        ("y = 4%\nP = 100/(1+y) = 96.15\nx = 1/5% = 20", ["proved", "proved"]),
        ("a = 7 % 3 = 1", ["proved"]),  # a remainder
    ],
)
def test_a_percentage_is_a_number_of_hundredths(text: str, expected: list[str]) -> None:
    assert [s.status for s in sg.review(text).steps if s.status] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w = 5 kN/m, L = 6 m, I = 8000 cm⁴\nR = wL/2 = 15 kN\nd = 5.27 mm", ["proved"]),
        (
            "wall: k = 0.8 W/(m K)\nadd a layer with conductivity 0.04 W/(m K)\nR = 0.026 + 0.208 = 0.234 K/W",
            ["proved"],
        ),
        ("m = 3 kg, a = 2 m/s^2\nF = m a = 6 N", ["proved"]),
        ("m = 3\np = 2 m = 6", ["proved"]),
    ],
)
def test_letters_behind_numbers_are_units_where_nothing_is_called_so(text: str, expected: list[str]) -> None:
    assert [s.status for s in sg.review(text).steps if s.status] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log(100) = 2", ["undecided"]),
        ("gain = 20 log(10) = 20 dB", ["undecided"]),
        ("gain = 20 log 10 = 30 dB", ["refuted"]),
        ("pH = −log(1.0×10^-3) = 3", ["undecided"]),
        ("pH = 4.74 + log(0.15/0.10) = 5.15", ["undecided"]),  # of base e alone
        ("pH = 4.74 + log(0.15/0.10) = 5.55", ["refuted"]),
        ("L = 10 log x dB\ndL/dx = 10/(x ln 10)", ["undecided"]),
        ("lg 100 = 2\nf = log(x^2) = 2 log(x)", ["proved", "proved"]),
        ("log10 1000 = 3\nlog10 1000 = 4", ["proved", "refuted"]),
        ("y = log(x)\ndy/dx = 1/x\nlog(100) = 4.605", ["proved", "proved"]),
        (r"$\log(10^3) = 3$, $\log(x y) = \log x + \log y$", ["undecided", "proved"]),
        ("x = 2 + 3\nfor the buffer with a = 2:\nx = 6", ["undecided"]),
        ("x = 2 + 3\nso the answer is:\nx = 6", ["refuted"]),
    ],
)
def test_a_logarithm_may_have_the_base_10(text: str, expected: list[str]) -> None:
    assert [s.status for s in sg.review(text).steps if s.status] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = A sin ωt\ndf/dt = Aω cos ωt", ["proved"]),
        ("f = A sin ωt\ndf/dt = −Aω cos ωt", ["refuted"]),
        ("v(w) = w²σ1² + (1−w)²σ2²\nv'(w) = 2wσ1² − 2(1−w)σ2²", ["proved"]),
        ("v(w) = w²σ1² + (1−w)²σ2²\nv'(w) = 2wσ1² + 2(1−w)σ2²", ["refuted"]),
        ("y = R1R2/(R1 + R2)\ndy/dR1 = R2²/(R1 + R2)²", ["proved"]),
        ("(a+b)² − 4ab = (a−b)²", ["proved"]),
        ("y = ax1\nx1y = 3\nx = a", []),  # nothing is called x1 or y1: names
        ("log π(a) = −(a − μ)²/(2σ²) − log σ − ½ log(2π)\n∂ log π(a)/∂σ = (a − μ)²/σ³ − 1/σ", ["proved"]),
        ("log π(a) = −(a − μ)²/(2σ²) − log σ − ½ log(2π)\n∂ log π(a)/∂σ = (a − μ)²/σ³ + 1/σ", ["refuted"]),
        ("A(r) = 2π(r)\ndA/dr = 2π", ["proved"]),
        ("v = (3, 4)\n|v| = 5", ["undecided"]),
        ("v = (3, 4)\n|v| = 6", ["refuted"]),
        ("v = (3, 4, 0), a = (1, 0, 0)\n|v × a| = 4", []),
        ("L = 10 mH, C = 1 µF\nw = 1/√(LC) = 10^4 rad/s", ["undecided"]),
        ("L = 10 mH, C = 1 µF\nw = 1/√(LC) = 10^5 rad/s", ["refuted"]),
        ("f = 3.00×10^8/550×10^-9 = 5.45×10^14", ["undecided"]),
        ("f = 3.00×10^8/550×10^-9 = 5.55×10^14", ["refuted"]),
        ("f = 6.0/2×10^3 = 3×10^3", ["proved"]),
    ],
)
def test_names_and_numbers_without_signs_between_them(text: str, expected: list[str]) -> None:
    assert [s.status for s in sg.review(text).steps if s.status] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N(d1) = 0.4332\nN(d2) = 0.3784", []),
        ("P(A) = 0.3\nP(B) = 0.5", []),
        ("f(x) = 5\nf'(x) = 1", ["refuted"]),  # a constant function
        ("E = E0 cos(kz − ωt)\nThe equation ∂²E/∂z² = (1/c²) ∂²E/∂t² must hold\nω = c k", ["proved"]),
        ("E = E0 cos(kz − ωt)\nThe equation ∂²E/∂z² = (1/c²) ∂²E/∂t² must hold\nω = c/k", ["undecided"]),
        ("y = x^2\ndy/dx = 3 x must be positive", ["refuted"]),
        (
            "max ln c1 + β ln c2 subject to c1 + c2/(1+r) = W\nFOC: 1/c1 = λ, β/c2 = λ/(1+r)\nc1 = W/(1+β)",
            ["proved"],
        ),
        ("L = x y + λ (4 - x - y)\nFOC: dL/dx = y + λ", ["refuted"]),
        ("The mean $m = 2 + 1$, and\nthe variance $= 4$.", ["undecided"]),
        ("$y = x^2$, so $y' = 2x$\nwhich is $= 3x$.", ["proved", "refuted"]),
        ("$y = x^2$, so $y' = 2x$.\nBy the rules, $= 3x$.", ["proved", "refuted"]),
        ("D = 10/1.04 = 9.615\nΔP for +50bp ≈ −9.615·0.005 = −0.0481", ["proved", "proved"]),
        ("y = 2 x\nso -y = -3 x", ["refuted"]),
        ("y' = x y, y(0) = 2\ndy/y = x dx\ny = 2e^(x²/2)", ["proved"] * 3),
        ("Solve 2 a_{n+1} = 3 a_n + 2\nso a_n = 2·3^n − 1", ["undecided"]),
        ("a_{n+1} = 3 a_n + 2\na_n = 2·3^n − 1\na_{n+1} = 2·3^{n+1} − 1", ["proved"]),
        ("a_{n+1} = 3 a_n + 2\na_n = 2·3^n − 1\na_{n+1} = 2·3^{n+1} + 1", ["refuted"]),
    ],
)
def test_what_words_and_indices_say(text: str, expected: list[str]) -> None:
    assert [s.status for s in sg.review(text).steps if s.status] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w^2 = 4 k^4 = (2 k^2)^2", ["proved"]),
        ("w^2 = 4 k^4 = 2 k^2", ["refuted"]),  # the root, and not the square
        (r"$\omega^2 = \frac{k}{m} = \frac{2k}{2m}$", ["proved"]),
        (r"$F(x,y) = x^2 + 2y^2$, $\nabla F(1,1) = (2,4)$", []),
        ("S = 2x^2 + 3x\nif we double the coefficient, S = 4x^2 + 6x", ["undecided"]),
        ("S = 2x^2 + 3x\nif we differentiate, dS/dx = 4x + 6", ["refuted"]),
        ("S = 2x^2 + 3x\nso S = 4x^2 + 6x", ["refuted"]),
    ],
)
def test_powers_of_new_names_and_cases_in_words(text: str, expected: list[str]) -> None:
    assert [s.status for s in sg.review(text).steps if s.status] == expected
