"""The normaliser: connect the normal forms with each other and with the matcher.

`rewrite/normal_form/protocols.py` has the protocols between its parts, with an example.
"""

from __future__ import annotations

from symgrad.ir.graph import NUMBER, Node, number, truth
from symgrad.ir.traverse import fold, with_args
from symgrad.ops.array.layout import broadcast_to, full
from symgrad.ops.scalar.logic import where
from symgrad.rewrite.array_forms.tensor import Tensors
from symgrad.rewrite.engine import Round
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.normal_form.choices import Choices
from symgrad.rewrite.normal_form.denominators import Denominators
from symgrad.rewrite.normal_form.form import Form, Sum
from symgrad.rewrite.normal_form.matching import RulesForProducts, RulesForSums
from symgrad.rewrite.normal_form.order import Order
from symgrad.rewrite.normal_form.products import Products
from symgrad.rewrite.normal_form.protocols import OpenProduct
from symgrad.rewrite.normal_form.sums import Sums
from symgrad.rewrite.rule import RuleSet
from symgrad.rewrite.trace import Note, Step

_FLATTENED = frozenset(
    [("add", "add"), ("neg", "add")]
    + [(child, parent) for child in ("mul", "div", "neg") for parent in ("mul", "div")]
)
_PRODUCT_OPS = frozenset({"mul", "div", "neg", "pow", "sqrt"})
_SEEN = frozenset({"mul", "neg", "pow", "add", "div"})


class NormalForms:
    """Normal forms of sums, products, contractions and choices, with their caches.

    The caches of sums and products stay valid in every round, because they contain only small ones, which every round
    flattens.

    Args:
        rules: the matched rules.
        known: facts about nodes.
        order: the order of terms and factors.
    """

    def __init__(self, rules: RuleSet, known: Conditions, order: Order) -> None:
        self.known = known
        self.settled: set[Node] = set()
        self._raw: set[Node] = set()
        self._steps: dict[Node, tuple[Step | None, bool]] = {}
        self._copied: dict[Node, bool] = {}
        self.order = order
        self.products = Products(self)
        self.sums = Sums(self)
        self.tensors = Tensors(self)
        self._denominators = Denominators(self)
        self._choices = Choices(self)
        self._rules_for_products = RulesForProducts(rules, self)
        self._rules_for_sums = RulesForSums(rules, self)

    def begin(self, current: Round) -> NormalForms:
        """Begin a round, and return this object."""
        self.settled, self._raw = current.settled, current.raw
        self.tensors = Tensors(self)  # the caches of these objects depend on the round
        return self

    def forget(self) -> None:
        """Clear the caches: their reference cycles would otherwise wait for the garbage collector."""
        self.__dict__.clear()

    def opens(self, node: Node, root: Node) -> bool:
        """Tell whether a sum or product is flattened into a larger one."""
        return node is root or node in self._raw or self._small(node)

    def apply_to_product(self, product: OpenProduct) -> bool:
        """Apply the first law of products that matches, and tell whether one matched."""
        return self._rules_for_products.apply(product) or self._choices.absorb(product)

    def apply_to_sum(self, total: Sum, laws: dict[str, None], notes: dict[Note, None]) -> bool:
        """Apply laws of sums until none matches, and tell whether one matched."""
        fired = self._rules_for_sums.apply(total, laws, notes)
        return self._denominators.merge(total, laws) or fired

    def contraction(self, node: Node) -> Node:
        """Return the normal form of a contraction whose operands are in normal form."""
        return self.tensors.contractions.normal(node)

    def inner(self, child: Node, parent: Node) -> bool:
        return (child.op.name, parent.op.name) in _FLATTENED

    def step(self, node: Node) -> Step | None:
        if not node.args:
            return None
        if not self._is_copied(node):
            return self._new_step(node)
        known = self._steps.get(node)
        if known is None:
            step = self._new_step(node)
            self._steps[node] = step, step is not None and step.after in self.settled
        else:
            step, settled = known
            if step is not None and settled:
                self.settled.add(step.after)
        return step

    def _is_copied(self, node: Node) -> bool:
        """Tell whether every sum and product in a node is small; then its step is the same in every round."""
        if node not in self._copied:
            fold([node], lambda n, args: self._small(n) and all(args), self._copied)
        return self._copied[node]

    def _small(self, node: Node) -> bool:
        return self.sums.small(node) if node.op.name == "add" else self.products.small(node)

    def _new_step(self, node: Node) -> Step | None:
        value = self._constant_value(node)
        if value is not None:
            return Step("known-value", node, value, "exact")
        name = node.op.name
        if name == "add":
            return self.sums.collect(node)
        if name in _PRODUCT_OPS:
            return self.products.collect(node)
        choice = self._constant_truths(node) or self._choices.step(node)
        if choice is not None:
            return choice
        return self.tensors.step(node) if node.shape or not node.op.pointwise else None

    def _constant_value(self, node: Node) -> Node | None:
        """Return the number to which a node is equal everywhere; None if there is none."""
        point = self.known.point(node)
        if point is None or node.op is broadcast_to or self.known.defined(node) != "yes":
            return None
        return full(truth(point == 1) if node.dtype == "bool" else number(point), node.shape)

    def _constant_truths(self, node: Node) -> Step | None:
        """Return the step that replaces constant arrays of truth values by one truth value, as in the rows."""
        if not node.shape or not node.op.pointwise or not any(a.dtype == "bool" for a in node.args):
            return None
        args = [self._truth(a) for a in node.args]
        if node.op is where and args[0].op is NUMBER:
            branch = full(args[1 if args[0].value else 2], node.shape)
            return Step("where-true" if args[0].value else "where-false", node, branch, "exact")
        after = with_args(node, args)
        return (
            None if after is node or after.shape != node.shape else Step("known-value", node, after, "exact")
        )

    def _truth(self, node: Node) -> Node:
        point = self.known.point(node) if node.dtype == "bool" and node.shape else None
        return node if point is None or self.known.defined(node) != "yes" else truth(point == 1)

    def sees(self, op_name: str) -> bool:
        return op_name in _SEEN

    def arguments(self, op_name: str, node: Node) -> tuple[Node, ...] | None:
        """Read -2*x as -(2*x), any product as a*b, sqrt(a) and 1/a as a**n."""
        if op_name == "neg":
            return (self.negated(node),) if self.reads_negative(node) else None
        if node.op.name not in _PRODUCT_OPS or not self.products.small(node):
            return None
        form = self.products.form_of_factor(node)
        if op_name == "pow":
            if len(form.factors) == 1 and not form.powers and form.coefficient == 1:
                ((base, e),) = form.factors.items()
                return (base, number(e)) if e != 1 else None
            return None
        if op_name == "mul":
            return self._head_and_rest(form)
        return None

    def _head_and_rest(self, form: Form) -> tuple[Node, Node] | None:
        """Split a product into its coefficient (or its first factor) and the rest; None if there is no rest."""
        factors, powers = dict(form.factors), dict(form.powers)
        first = Form(form.coefficient, {}, {})
        if form.coefficient == 1 and (factors or powers):
            head = self.products.sorted([*factors, *powers])[0]
            first = Form(
                1,
                {head: factors.pop(head)} if head in factors else {},
                {head: powers.pop(head)} if head in powers else {},
            )
        if not factors and not powers:
            return None
        return self.products.write(first), self.products.write(Form(1, factors, powers))

    def reads_negative(self, node: Node) -> bool:
        """Tell whether a node in normal form opens with a minus sign, or is a sum with more minus than plus signs."""
        if node.is_number():
            return node.value < 0
        if node.op.name == "add":
            return self.sums.small(node) and self.sums.mostly_negative(node)
        if node.op.name not in {"mul", "div", "neg"}:
            return False
        if self.products.small(node):
            return self.products.form(node).coefficient < 0
        return node.op.name == "neg"

    def negated(self, node: Node) -> Node:
        """Return the negation of a node that reads negative."""
        if node.op.name == "add":
            return self.sums.write(self.sums.of(node).scaled(-1))
        if not self.products.small(node):
            return node.args[0]
        form = self.products.form(node)
        return self.products.write(Form(-form.coefficient, form.factors, form.powers))
