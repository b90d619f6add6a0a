"""The English of derivations: which words may stand beside a formula without being part of it.

A word that is not listed here, nor an inflected form of one that is, is taken for a part of the formula. The words of
operations (``times``, ``squared``) are not listed: a formula goes on behind them.
"""

from __future__ import annotations

import re

_LIST = """
about above absolute absolutely accept accident accord according account acknowledge acquire across act actual
actually add addition additional additionally admit afterwards again against ago agree ahead algebra algebraic all
allow almost alone along already alright also alternative alternatively although altogether always am among amount an
analog analogous analogously analysis analytic and angle angular another answer any anyhow anyone anything anyway
anywhere apart apparent apparently appear appendix applicable apply approach appropriate approximate approximately
approximation arbitrary are area argue argument around arrange arrive as aside ask assert assign associate assume
assumption at attain attempt author automatic automatically available average avoid away axis back bad balance base
basic basically batch bayes be because become been before began begin behave behavior behaviour behind being believe
below bernoulli beside besides best better between beyond big body both bottom bound boundary bounded box bracket
break brief briefly bring broad budget but by calculate calculation calculus call can cancel candidate cannot
capacitor capital care careful carefully carry case cases cause cell center central centre certain certainly chain
chance change check chemical choice choose chosen circle claim class clean clear clearly close closed clue coefficient
coin collect collision column combination combine come common commonly comparable compare comparison complete
completely complex complicate component compose composite composition computation compute concave concentration
conclude conclusion concrete condition conditional conduction confirm conjugate connect consecutive consequence
consequently consider constant constraint construct consumer consumption contain context continue continuity
continuous continuously contradiction contribute contribution convenient convention converge convergence converse
convert convex coordinate correct correctly correspond cosine cost could count couple course cover critical cross cube
current currently curve cylinder cylindrical damp data deal decay decide decrease deduce deduction define definite
definition degree delete demand demonstrate denominator denote density depend dependence dependent depict derivation
derivative derive describe desire detail determinant determine deviation did differ difference different
differentiable differential differentials differentiate differentiation differently difficult dimension dimensional
direct direction directional directly disappear discard discrete discuss distance distinct distinguish distribute
distribution divergence do does domain done doubt down draw drift drop due during dynamic dynamics each earlier early
easily easy edge effect efficient eigenvalue eigenvector either elastic electric electron element elementary eliminate
else elsewhere emphasise emphasize end ending energy enough ensure enter entire entirely entropy entry equal equality
equally equate equation equilibrium equivalent equivalently error especially essential essentially establish estimate
etc evaluate evaluation even event eventually ever every everybody everyone everything everywhere evident evidently
exact exactly exam examine example except exception exercise exist existence expand expansion expect expectation
expected expenditure explain explanation explicit explicitly exploit exponent exponential exponentially exponentials
express expression extend extra extreme extremum fact factor fail fair fall false familiar family far fast favour
feature few field figure final finally find fine finish finite firm first firstly fit fix fixed flat flow fluid focus
follow following follows for force form formal formally former formula forward found four fraction free friction from
front full fully function fundamental further furthermore future gain gas gather gauss gave general generalise
generality generalize generally generate get give given giving glance global go goal goes going good got gradient
graph gravity great greater grid ground group grow growth guarantee guess guide had hand handle happen hard hardly has
have having he heat held help hence her here hessian high higher highest him hint his hold homework hope household how
however huge hypothesis idea ideal identical identically identify identity if ignore immediate immediately implement
implicit implicitly imply important impose impossible in include including inclusive income increase increasing indeed
independent independently index indicate individual inequality inertia infer infinite infinitely infinity inflection
inflow inform information initial initially inner input insert inside insight instance instant instantaneous instead
integrable integral integrand integrate integration intend interest interested interesting interior intermediate
internal interpret interpretation intersect interval into introduce invariant inventory inverse invert investigate
investment involve is isolate issue it item its itself jacobian jensen join joint just justify keep kept kind kinetic
know known labor labour lack lagrange lagrangian langevin laplacian large largest last lastly late later latest latter
law layer lead leading learn least leave left leibniz lemma length lens less lesson let level lie lies light like
likelihood likely likewise limit line linear linearise linearity linearize linearly liquid list literature little load
local locally locate location logarithm logarithmic logarithms logic logit logits long longer look lose loss lot low
lower lowest made magnitude main mainly maintain make manifest manipulate manner many map marginal mark market mass
match mathematical mathematics matrix matter max maximal maximise maximize maximum maxwell may maybe me mean meaning
means meant measure mechanics meet mention mere merely met method middle might mind minimal minimise minimize minimum
minor miss mistake mix mode model molecule moment momentum monopoly monotone monotonic more moreover most mostly
motion move much multiple multiplication multiplier multiply must mutual my namely natural naturally near nearby
nearly necessarily necessary need needed negative neglect neither network neural neuron never nevertheless new newton
next nice no nobody non none nonnegative nonzero nor normal normalise normalize normally not notation note nothing
notice novel now number numerator numerical numerically object observation observe obtain obvious obviously occur of
off offset often ok okay old on once one ones only onto open operation operator opposite optics optimal optimality
optimisation optimise optimization optimize optimum option or orange orbit order ordinary origin original originally
orthogonal oscillator other others otherwise ought our ours ourselves out outer outline output outside overall own
page pair paper parabola parallel parameter parametric part partial partially particle particular particularly parts
pass past path pattern pendulum people perfect perform perhaps permit person phase physical physically pick picture
piece piecewise place plain plane planet play please plot plug point pointwise policy polynomial population position
positive possible possibly posterior potential power practice precise precisely prediction prefer preliminary prepare
present preserve pressure presumably pretty previous previously price primary prime principal principle prior
probability problem procedure proceed process produce product production profit program projectile proof proper
properly property proportional propose proposition prove provide pull pure purely purpose put quadratic quality
quantity question quick quickly quite quote quotient radius raise random range rapid rapidly rate rather ratio
rational reach reaction read reader ready real realise realize really rearrange reason reasonable recall receive
recipe reciprocal recognise recognize record recover rectangle recursion recursive recursively reduce reduction refer
reference regard region regression regular relate relation relationship relative relatively relevant remain remainder
remaining remark remember remind remove rename repeat repeatedly replace report represent representation request
require requirement reservoir resistance resistor respect respective respectively response rest restrict restriction
result return revenue reverse review reward rewrite right rise root rotation rough roughly round row rule run said
same sample satisfies satisfy say scalar scale scheme score second secondly section see seek seem seen select self
send sense sensitive sentence separate separately separation sequence series serve set several shall shape share sharp
she shift short shortcut shorthand should show shown side sigmoid sign significant similar similarly simple simplest
simplicity simplification simplify simply simultaneous simultaneously since sine single singular situation size sketch
skip slight slightly slope slow small smallest smooth so softmax sole solely solution solve some somebody somehow
someone something sometimes somewhat somewhere soon sort source space special specific specifically specify speed
split spring square stability stable stage stand standard start state stated statement static stationary statistical
statistics stay steady step still stochastic stop straight straightforward straightforwardly strain strategy stress
strict strictly strong structure student study subject substitute substitution subtract subtraction success successive
such sufficient sufficiently suggest suitable suitably sum summand summarise summarize summary summation supply
suppose sure surely surface surplus surprise surprising symbol symmetric symmetrical symmetrically symmetry system
table tail take taken tangent target task tax taylor teacher technique tell temperature tend tends tension tensor term
test text than thank thanks that the their theirs them theme themselves then theorem theory there thereafter thereby
therefore thereof thermal thermodynamics these they thing think third thirdly this those though thought three
throughout throw thus tidy tie time tiny tip title to today together too took tool top torque total totally touch
toward towards trace track train training trajectory transform transformation transition transpose treat treatment
trial triangle trick tricky trigonometric trigonometry trivial trivially true truly truth try turn twice two type
typical typically ultimate ultimately under underlying understand understanding undo uniform uniformly unique uniquely
uniqueness unit unity unknown unless unlike until up update upon upper us usage use used useful user usual usually
utilise utility utilize valid validity value vanish variable variance variant variation various vary vector velocity
verify version versus vertex vertical vertically very via view violate visible voltage volume wage wait wall want warn
was watch wave way we weak wealth weight well went were what whatever when whence whenever where whereas whereby
wherein wherever whether which whichever while who whole whom whose why wide will wire wise wish with within without
wonder word work world worry worse worst worth would write wrong wrote yes yet yield you young your yours yourself
zero zeros
qed metre meter kilometre kilometer centimetre centimeter millimetre millimeter gram gramme kilogram tonne year month
week day hour minute foot feet inch mile litre liter gallon dollar euro cent percent radian newton joule watt volt amp
ampere ohm pascal kelvin celsius mole per after air sub
"""
_WORDS = frozenset(_LIST.split())
_OPERATIONS = frozenset(
    {"plus", "minus", "over", "times", "divided", "multiplied", "squared", "cubed", "half", "double"}
)
_MORE_OPERATIONS = frozenset(
    {"twice", "thrice", "triple", "lim", "int", "sup", "inf", "min", "max", "argmin", "argmax", "prod", "mod"}
)
_ENDINGS = re.compile(r"(?:'s|s|es|ed|d|ing|ly|er|est|al|ity)$")
_NAME = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")


def is_english(word: str) -> bool:
    """Tell whether a word is one of English that people write beside formulas.

    Example:
        >>> [w for w in ("Differentiating", "everywhere", "times", "erf", "xy", "respectively") if is_english(w)]
        ['Differentiating', 'everywhere', 'respectively']
    """
    if _NAME.fullmatch(word) is None:
        return False
    word = word.lower()
    if "-" in word:
        return all(is_english(part) for part in word.split("-"))
    if word in _OPERATIONS:
        return False
    if word in _WORDS:
        return True
    ending = _ENDINGS.search(word)
    if ending is None or len(stem := word[: ending.start()]) < 3:
        return False
    stems = {
        stem,
        f"{stem}e",
        stem[:-1] if stem[-1] == stem[-2] else stem,
        f"{stem[:-1]}y" if stem[-1] == "i" else stem,
    }
    return not stems.isdisjoint(_WORDS)


def is_word(word: str) -> bool:
    """Tell whether a word is one of English, or of an operation.

    Example:
        >>> [is_word(w) for w in ("Hence", "half", "lim", "Vmax")]
        [True, True, True, False]
    """
    return is_english(word) or is_operation(word)


def is_operation(word: str) -> bool:
    """Tell whether a word is one of an operation: half, lim."""
    return word.lower() in _OPERATIONS | _MORE_OPERATIONS
