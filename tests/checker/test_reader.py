"""Reading proof files: whatever a file holds, it is read as one thing, or refused in one sentence, soon."""

from __future__ import annotations

import copy
import json
import random
import re
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, validators

import symgrad as sg
from symgrad.apps.cli import main
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.checker.file.reader import read_proof, read_proof_file
from symgrad.checker.file.schema_validation import compile_schema, find_fault, load_schema
from symgrad.checker.limits import FILE_BYTES, FILE_DEPTH, FILE_VALUES
from symgrad.errors import InternalError, UsageError
from tests.checker.test_statement import PROOFS, data_of


def _pattern(_validator, pattern, instance, _schema):
    """As a JSON Schema means it: the end of a pattern is that of the text, also before a line break."""
    if isinstance(instance, str) and not re.search(pattern.replace("$", r"\Z"), instance):
        yield jsonschema.ValidationError("no match")


JUDGE = validators.extend(Draft202012Validator, {"pattern": _pattern})(load_schema())


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(load_schema())


def test_keywords_that_nothing_enforces_are_no_part_of_it() -> None:
    with pytest.raises(InternalError, match="multipleOf"):
        compile_schema({"type": "integer", "multipleOf": 2})


@pytest.mark.parametrize("name", PROOFS)
def test_proofs_conform(name: str) -> None:
    data = data_of(PROOFS[name]())
    assert find_fault(data) is None
    assert JUDGE.is_valid(data)


def _places(data, path=()):
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from _places(value, (*path, key))


VALUES = [
    None, True, False, 0, 1, -1, 7, 10**6, 10**12, 10**40, 10**41, -(10**41), "", "x", "1", "-1/2", "1/", "1\n", "+1",
    "1e5", "a" * 41, "n" * 1001, "9" * 100_000, "9" * 100_001, [], [[]], ["1", [0, 1]], [[["1", [0, 1]], 1]],
    {}, {"q": "1"}, {"re": "1", "im": "0"}, {"drawn": ["Uniform", "0", "1"]}, "symmetric", "real", "complex",
    "proved", "apart", "refuted", "derivative", "all", "exp", "NaN",
]  # fmt: skip
KEYS = [
    "q",
    "re",
    "im",
    "x",
    "point",
    "sizes",
    "real",
    "branches",
    "turned",
    "parts",
    "wrt",
    "domain",
    "cases",
    "",
]


def _mutated(data, rng: random.Random):
    data = copy.deepcopy(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice(list(_places(data)))
        if not path:
            continue
        target = data
        for key in path[:-1]:
            target = target[key]
        match rng.randrange(4):
            case 0 if isinstance(target, (dict, list)):
                del target[path[-1]]
            case 1 if isinstance(target, dict):
                target[rng.choice(KEYS)] = rng.choice(VALUES)
            case 1:
                target.insert(path[-1], rng.choice(VALUES))
            case _:
                target[path[-1]] = rng.choice(VALUES)
    return data


@pytest.mark.parametrize("name", PROOFS)
def test_the_reader_says_what_a_validator_says(name: str) -> None:
    rng = random.Random(name)
    data = data_of(PROOFS[name]())
    found = set()
    for _ in range(60):
        bad = _mutated(data, rng)
        fault = find_fault(bad)
        assert (fault is None) == JUDGE.is_valid(bad), (bad, fault)
        found.add(fault is None)
    assert False in found


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


BASE = json.dumps(data_of(PROOFS["derivative"]()))
NOT_READ = {
    "nothing": b"",
    "bytes": b"\xff\xfe\x00",
    "a mark of byte order": b"\xef\xbb\xbf" + BASE.encode(),
    "half of it": BASE[: len(BASE) // 2].encode(),
    "twice": (BASE + BASE).encode(),
    "a key twice": BASE.replace('"format": 1', '"format": 1, "format": 1').encode(),
    "a key of a point twice": BASE.replace('"x": ', '"x": "1", "x": ').encode(),
    "NaN": BASE.replace('"format": 1', '"format": NaN').encode(),
    "infinity": BASE.replace('"a": ', '"a": -Infinity, "q": ').encode(),
    "an exponent": BASE.replace('"format": 1', '"format": 1e999999999').encode(),
    "a float": BASE.replace('"format": 1', '"format": 1.0').encode(),
    "many digits": BASE.replace('"format": 1', '"format": ' + "1" * 100_000).encode(),
    "many digits of a text": BASE.replace('"x": "', '"x": "' + "1" * 200_000).encode(),
    "an exponent in a text": re.sub(r'"x": "[^"]*"', '"x": "1e999999999"', BASE).encode(),
    "nests": BASE.replace('"format": 1', f'"format": {deep(100_000)}').encode(),
    "nests of a point": re.sub(r'"x": "[^"]*"', f'"x": {deep(100)}', BASE).encode(),
    "a surrogate": BASE.replace('"x"', '"\\ud800"').encode(),
    "many values": ("[" + "[]," * FILE_VALUES + "[]]").encode(),
    "many bytes": b'"' + b"x" * FILE_BYTES + b'"',
}


@pytest.mark.parametrize("content", NOT_READ.values(), ids=list(NOT_READ))
@pytest.mark.usefixtures("ends")
def test_what_is_no_proof_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(content)
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code in {2, 6}
    said = done.stderr or done.stdout
    assert len(said) < 3000
    assert "Traceback" not in said
    assert said.isprintable() or set(said) - set(filter(str.isprintable, said)) == {"\n"}
    if done.exit_code == 2:
        assert said.count("this is not a proof file") == 1


@pytest.mark.usefixtures("ends")
def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    with path.open("wb") as file:
        file.truncate(10**9)  # takes no room where files may have holes
    with pytest.raises(UsageError, match="more than 32 MiB"):
        read_proof_file(path)


def test_messages_say_where() -> None:
    data = json.loads(BASE)
    data["program"]["steps"][2][1] = [0, "1"]
    with pytest.raises(UsageError, match='at program/steps/2/1/1: "1" is not a whole number') as error:
        check(data)
    assert error.value.expected == "a whole number"
    data = json.loads(BASE)
    del data["sample"]
    with pytest.raises(UsageError, match="'sample' is missing"):
        check(data)
    with pytest.raises(UsageError, match="at extra: true has no place here"):
        check({**json.loads(BASE), "extra": True})
    with pytest.raises(UsageError, match=r"at \\x1b\[2J: "):
        check({**json.loads(BASE), "\x1b[2J": True})


def test_depth() -> None:
    """Arrays of as many axes as there may be are read, deeper ones are not."""
    value: object = "1"
    for _ in range(FILE_DEPTH - 4):
        value = [value]
    assert find_fault(read_proof(re.sub(r'"x": "[^"]*"', f'"x": {json.dumps(value)}', BASE).encode())) is None
    with pytest.raises(UsageError, match="70 levels"):
        read_proof(re.sub(r'"x": "[^"]*"', f'"x": {deep(FILE_DEPTH)}', BASE).encode())


CASE = json.loads(json.dumps(data_of(PROOFS["derivative"]())["cases"][0]))
FORGED = [
    {"scales": [["turn", 0, 10**40]]},
    {"scales": [["turn", 0, 99991]]},
    {"scales": [["tan", 0, 10**40], ["exp", 0, 10**40], ["root", 0, 10**40]]},
    {"capacity": 4096, "answers": [[[[["1"]] * 20_000, 1]] * 20]},
    {"answers": [[[[["9" * 4300, [0, 999_999]]] * 50, 1_000_000]] * 50]},
    {"answers": [[[[["1", [0, 999_999]], ["1"]], 1_000_000]] * 5]},
    {"answers": [["1"] * 50_000]},
]


@pytest.mark.parametrize("damage", FORGED)
@pytest.mark.parametrize(
    "pair",
    [
        ("sin(2*x)", "2*sin(x)*cos(x)"),
        ("(x**9 - 1)/(x - 1)*(x - 1)", "x**9 - 1"),
        ("cos(pi/7)**2 + sin(pi/7)**2", "1"),
        ("sqrt(x)**4", "x**2"),
    ],
)
@pytest.mark.usefixtures("ends")
def test_answers_of_any_size_end_soon(damage, pair) -> None:
    import symgrad as sg

    data = data_of(sg.equal(*pair))
    for case in data["cases"]:
        case.update(damage)
    begun = now()
    assert check(data, 3.0).status in {"supported", "proved"}
    assert now() - begun < 3.1


@pytest.mark.usefixtures("ends")
def test_the_time_limit_is_one_for_the_whole_file() -> None:
    """Ten thousand cases do not take as many times as long."""
    steps = [["symbol", [], ["x"], [], "real"]]
    for k in range(3000):
        steps.append(["number", [], [{"q": str(k)}], [], "int"])
        steps.append(["lt", [0, len(steps) - 1], [], [], "bool"])
        steps.append(["where", [len(steps) - 1, max(0, len(steps) - 4) if k else 0, 0], [], [], "real"])
    last = len(steps) - 1
    steps.append(["neg", [last], [], [], "real"])
    data = {
        "format": 1, "status": "proved", "kind": "equal", "a": last, "b": last + 1, "cases": [],
        "program": {"symbols": [["x", "real", None, None, []]], "steps": steps},
        "sample": {"point": {"x": "1"}, "sizes": {}},
    }  # fmt: skip
    begun = now()
    assert check(data, 2.0).status == "supported"
    assert now() - begun < 2.1


@pytest.mark.parametrize("number", ["10**5000", "-(10**5000)/7**3"])
def test_numbers_of_many_digits_are_written_and_read(number: str, tmp_path: Path) -> None:
    """Python itself refuses to write or to read more than 4,300 digits."""
    verdict = sg.equal(f"x + {number}", f"{number} + x")
    assert verdict.status == "proved"
    verdict.proof.save(tmp_path / "p.json")
    assert check(read_proof_file(tmp_path / "p.json")).status == "proved"
