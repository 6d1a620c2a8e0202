"""Random programs of tensor operations that torch can execute.

A program is what `main(flag0, flag1, n)` does; `probe(tensor, 7)` marks a place where the dtype is
asked for. The generator keeps book of the kind (floating, integral, bool) and the shape of every
variable, so that most programs run to their end: never of dtypes, which torch alone knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from tests.property.torch_operations import (
    AUTOCAST,
    FACTORIES,
    IN_PLACE,
    OPERATIONS,
    UNPACKED,
    Operation,
)

IMPORTS = """\
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
"""

FLOATING = ("torch.bfloat16", "torch.float16", "torch.float32", "torch.float64", "torch.half")
OTHERS = ("torch.int64", "torch.int32", "torch.uint8", "torch.bool")

KINDS = {"x": ("float", "int", "bool", "any"), "f": ("float",), "i": ("int",), "b": ("bool",),
         "n": ("float", "int")}  # fmt: skip
SHAPES = {"m": ("square",), "v": ("row",), "s": ("scalar",), "": ("square", "row", "scalar")}
KIND_ORDER = ("bool", "int", "float", "any")
SHAPE_ORDER = ("scalar", "row", "square", "any")


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression, or a variable: what kind of tensor of what shape, and what made it."""

    text: str
    kind: str
    shape: str
    construct: str

    def fits(self, slot: str) -> bool:
        shape = slot.rstrip("0123456789")[1:]
        return self.kind in KINDS[slot[0]] and self.shape in SHAPES[shape]


@dataclass(frozen=True, slots=True)
class Program:
    """A source, and for each probe the construct that made what it looks at."""

    source: str
    constructs: tuple[str, ...]


@dataclass(slots=True)
class Function:
    """A function or method of the program; `call` writes a call of it."""

    call: Callable[[], Typed]


@dataclass(slots=True)
class Scope:
    """The variables that are bound, and what surrounds the place."""

    variables: dict[str, Typed] = field(default_factory=dict)
    autocast: bool = False
    depth: int = 0
    in_main: bool = True


def random_program(seed: int, device: str = "cpu") -> Program:
    """The program of a seed, whose tensors and autocast regions are on `device`."""
    program = _Writer(Random(seed)).program()
    return program if device == "cpu" else _moved(program, device)


def _moved(program: Program, device: str) -> Program:
    """The same program on another device: where it makes tensors, moves them, and opens regions."""
    source = program.source.replace(IMPORTS, f'{IMPORTS}torch.set_default_device("{device}")\n')
    for here, there in (
        ('"cpu"', f'"{device}"'),
        ("'cpu'", f"'{device}'"),
        (".cpu()", f".{device}()"),
        ("torch.from_numpy(", "torch.as_tensor("),
    ):
        source = source.replace(here, there)
    return Program(source, program.constructs)


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.constructs: list[str] = []
        self.names = 0
        self.functions: list[Function] = []
        self.scope = Scope()
        self.budget = 0

    # Text

    def write(self, line: str) -> None:
        self.lines.append("    " * self.scope.depth + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """An indented block; what is bound in it stays bound."""
        self.write(head)
        self.scope.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.write("pass")
        self.scope.depth -= 1

    @contextmanager
    def function(self, head: str, parameters: dict[str, Typed]) -> Iterator[None]:
        """The body of a function at the top of the module, with a scope of its own."""
        outer = self.scope
        self.scope = Scope(parameters, depth=outer.depth, in_main=False)
        with self.block(head):
            yield
        self.scope = outer

    def fresh(self, prefix: str = "x") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def probe(self, text: str, construct: str) -> None:
        autocast = " (autocast)" * self.scope.autocast
        self.write(f"probe({text}, {len(self.constructs)})")
        self.constructs.append(construct + autocast)

    # Expressions

    def dtype(self, floating: bool) -> tuple[str, str]:
        """A dtype and its kind."""
        if floating or self.random.random() < 0.75:
            return self.random.choice(FLOATING), "float"
        text = self.random.choice(OTHERS)
        return text, "bool" if text == "torch.bool" else "int"

    def variable(self, slot: str) -> Typed | None:
        fitting = [value for value in self.scope.variables.values() if value.fits(slot)]
        return self.random.choice(fitting[-6:]) if fitting else None

    def operand(self, slot: str, depth: int) -> Typed | None:
        """A tensor for a slot: a variable, or an expression in parentheses."""
        if slot.startswith("V"):
            return self.variable(slot[1:])
        if self.random.random() < 0.8 and (found := self.variable(slot)):
            return found
        for _ in range(3):
            value = self.expression(depth + 1)
            if value.fits(slot):
                return Typed(f"({value.text})", value.kind, value.shape, value.construct)
        return self.variable(slot)

    def filled(self, operation: Operation, depth: int = 0) -> tuple[str, list[Typed]] | None:
        """The text of an operation on random operands, and its results; None if none fit."""
        operands: dict[str, Typed] = {}
        for slot in operation.slots:
            if slot in ("d", "fd"):
                text, kind = self.dtype(floating=slot == "fd")
                operands[slot] = Typed(text, kind, "scalar", "")
            elif value := self.operand(slot, depth):
                operands[slot] = value
            else:
                return None
        text = operation.template.format_map({key: value.text for key, value in operands.items()})
        return text, [
            Typed(
                text,
                _largest(kind, KIND_ORDER, {key: value.kind for key, value in operands.items()}),
                _largest(shape, SHAPE_ORDER, {key: value.shape for key, value in operands.items()}),
                operation.construct,
            )
            for kind, shape in operation.results
        ]

    def expression(self, depth: int = 0) -> Typed:
        """A random expression that gives a tensor."""
        random = self.random
        for _ in range(4):
            tables: Sequence[Operation] = OPERATIONS
            if depth > 1 or not self.scope.variables or random.random() < 0.15:
                tables = FACTORIES
            elif self.scope.autocast and random.random() < 0.5:
                tables = AUTOCAST
            elif self.functions and depth == 0 and random.random() < 0.2:
                return random.choice(self.functions).call()
            if filled := self.filled(random.choice(tables), depth):
                return filled[1][0]
        filled = self.filled(random.choice(FACTORIES))
        assert filled
        return filled[1][0]

    def fitting(self, slot: str) -> Typed:
        """An expression that fits a slot, made to fit where chance does not find one."""
        value = self.operand(slot, 1)
        if value is not None:
            return value
        text, kind, shape = {"x": ("torch.ones(3, 3)", "float", "square"),
                             "f": ("torch.ones(3, 3)", "float", "square"),
                             "fm": ("torch.ones(3, 3)", "float", "square")}[slot]  # fmt: skip
        return Typed(text, kind, shape, "factory")

    # Statements

    def bind(self, name: str, value: Typed, construct: str | None = None) -> None:
        made_by = construct or value.construct
        self.scope.variables.pop(name, None)
        self.scope.variables[name] = Typed(name, value.kind, value.shape, made_by)

    def target(self) -> str:
        own = [name for name in self.scope.variables if name.startswith("x")]
        if own and self.random.random() < 0.3:
            return self.random.choice(own)
        return self.fresh()

    def assignment(self) -> None:
        value, name = self.expression(), self.target()
        self.write(f"{name} = {value.text}")
        self.bind(name, value)
        if self.random.random() < 0.7:
            self.probe(name, value.construct)

    def probing(self) -> None:
        value = self.expression()
        self.probe(value.text, value.construct)

    def in_place(self) -> None:
        operation = self.random.choice(IN_PLACE)
        if filled := self.filled(operation):
            self.write(filled[0])
            changed = next(iter(operation.slots))
            target = filled[0].split(" ")[0].split(".")[0].split("[")[0]
            if changed.startswith("V") and target in self.scope.variables:
                self.probe(target, operation.construct)

    def unpacking(self) -> None:
        operation = self.random.choice(UNPACKED)
        if filled := self.filled(operation):
            text, results = filled
            names = [self.fresh() for _ in results]
            self.write(f"{', '.join(names)} = {text}")
            for name, value in zip(names, results, strict=True):
                self.bind(name, value)
                self.probe(name, operation.construct)

    def swap(self) -> None:
        one, other = self.variable("x"), self.variable("x")
        if one and other and one.text != other.text:
            self.write(f"{one.text}, {other.text} = {other.text}, {one.text}")
            self.bind(one.text, other)
            self.bind(other.text, one)
            self.probe(one.text, "swap")
            self.probe(other.text, "swap")

    def list_of_tensors(self) -> None:
        name, kept = self.fresh("items"), self.fitting("fm")
        more = self.fitting("fm")
        way = self.random.randrange(5)
        if way == 0:
            self.write(f"{name} = []")
            with self.block("for _ in range(2):"):
                self.write(f"{name}.append({kept.text})")
        elif way == 1:
            self.write(f"{name} = [{kept.text}, {more.text}]")
        elif way == 2:
            self.write(f"{name} = [{kept.text} * i for i in range(3)]")
        elif way == 3:
            self.write(f"{name} = [{kept.text}]")
            self.write(f"{name}.extend([{more.text}])")
        else:
            self.write(f"{name} = [t.half() for t in ({kept.text}, {more.text})]")
        self.probe(f"{name}[0]", "list")
        self.probe(f"torch.cat({name})", "list")
        item = self.fresh("item")
        with self.block(f"for {item} in {name}:"):
            self.probe(item, "iteration over a list")
        if self.random.random() < 0.4:
            with self.block(f"for i, {item} in enumerate({name}):"):
                self.probe(f"{item} * i", "enumerate")
        if self.random.random() < 0.4:
            other = self.fresh("item")
            with self.block(f"for {item}, {other} in zip({name}, {name}):"):
                self.probe(f"{item} + {other}", "zip")

    def dict_of_tensors(self) -> None:
        name, kept, more = self.fresh("table"), self.fitting("x"), self.fitting("x")
        self.write(
            self.random.choice(
                (
                    f'{name} = {{"a": {kept.text}, "b": {more.text}}}',
                    f"{name} = dict(a={kept.text}, b={more.text})",
                )
            )
        )
        if self.random.random() < 0.5:
            self.write(f'{name}["b"] = {self.fitting("x").text}')
        if self.random.random() < 0.3:
            self.write(f"{name}.update(b={self.fitting('x').text})")
        self.probe(f'{name}["a"]', "dict")
        self.probe(f'{name}["b"]', "dict")
        self.probe(f'{name}.get("b")', "dict.get")
        item = self.fresh("item")
        if self.random.random() < 0.4:
            with self.block(f"for key, {item} in {name}.items():"):
                self.probe(item, "dict.items")
        if self.random.random() < 0.3:
            self.write(f"{name} = {{k: t.float() for k, t in {name}.items()}}")
            self.probe(f'{name}["a"]', "dict comprehension")
        if self.random.random() < 0.3:
            self.probe(f'{name}.pop("a")', "dict.pop")

    # Control flow

    def branches(self, blocks: Sequence[tuple[str, int]], construct: str, *, other: bool) -> None:
        """Blocks of which one is executed: afterwards, what each of them binds is bound."""
        before = dict(self.scope.variables)
        ends = [] if other else [before]
        for head, size in blocks:
            self.scope.variables = dict(before)
            with self.block(head):
                self.statements(size)
            ends.append(self.scope.variables)
        after = {}
        for name, value in ends[0].items():
            values = [end[name] for end in ends if name in end]
            if len(values) == len(ends):
                same = all(v is value for v in values)
                kind = value.kind if len({v.kind for v in values}) == 1 else "any"
                shape = value.shape if len({v.shape for v in values}) == 1 else "any"
                after[name] = Typed(name, kind, shape, value.construct if same else construct)
        self.scope.variables = after

    def probe_changed(self, construct: str) -> None:
        """Look at variables that the blocks before have bound."""
        values = self.scope.variables.values()
        for name in [value.text for value in values if value.construct == construct][:2]:
            self.probe(name, construct)

    def condition(self) -> None:
        flags = ["flag0", "flag1", "not flag0", "n > 1"]
        way = self.random.randrange(3)
        if way == 0:
            self.branches([(f"if {self.random.choice(flags)}:", 2)], "if", other=False)
        elif way == 1:
            flag = self.random.choice(flags)
            self.branches([(f"if {flag}:", 2), ("else:", 2)], "if", other=True)
        else:
            heads = ["if flag0:", "elif n > 1:", "else:"]
            self.branches([(head, 1) for head in heads], "if", other=True)
        self.probe_changed("if")

    def guard(self) -> None:
        value = self.variable("x")
        if value is None:
            return
        heads = [f"if {value.text}.dtype == torch.float32:",
                 f"if {value.text}.is_floating_point():",
                 f"if {value.text}.dtype in (torch.float16, torch.bfloat16):",
                 f"if isinstance({value.text}, torch.Tensor):",
                 f"if {value.text}.dtype != torch.bfloat16:",
                 f"if not torch.is_floating_point({value.text}):",
                 f"if {value.text} is not None:"]  # fmt: skip
        blocks = [(self.random.choice(heads), 2)]
        if both := self.random.random() < 0.4:
            blocks.append(("else:", 1))
        self.branches(blocks, "guard", other=both)
        self.probe_changed("guard")

    def loop(self) -> None:
        carried = self.fitting("f")
        name = self.fresh("c")
        self.write(f"{name} = {carried.text}")
        self.bind(name, carried)
        way = self.random.randrange(4)
        if way == 3:
            count = self.fresh("k")
            self.write(f"{count} = 0")
            head = f"while {count} < n:"
        else:
            head = ("for i in range(n):", "for _ in range(2):", "for i in (1, 2):")[way]
        before = dict(self.scope.variables)
        with self.block(head):
            if way == 3:
                self.write(f"{count} += 1")
            self.probe(name, "carried by a loop")
            self.statements(2)
            if self.random.random() < 0.7:
                value = self.expression()
                self.write(f"{name} = {value.text}")
            else:
                value = self.scope.variables.get(name, carried)
                self.write(f"{name} = {name} * {self.fitting('fm').text}")
            if self.random.random() < 0.2:
                with self.block("if flag0:"):
                    self.write(self.random.choice(("break", "continue")))
        self.scope.variables = {
            key: value if before[key] == self.scope.variables.get(key) else
            Typed(key, "any", "any", "after a loop")
            for key, value in before.items()
        }  # fmt: skip
        self.scope.variables.pop(name, None)
        self.probe(name, "after a loop")

    def exceptions(self) -> None:
        name = self.fresh()
        one, other = self.expression(), self.fitting("x")
        with self.block("try:"):
            self.write(f"{name} = {one.text}")
            if self.random.random() < 0.4:
                with self.block("if flag1:"):
                    self.write('raise ValueError("no")')
        with self.block("except ValueError:"):
            self.write(f"{name} = {other.text}")
        if self.random.random() < 0.3:
            with self.block("finally:"):
                self.probing()
        kind = one.kind if one.kind == other.kind else "any"
        self.bind(name, Typed(name, kind, "any", "try"))
        self.probe(name, "try")

    def without_gradients(self) -> None:
        with self.block(self.random.choice(("with torch.no_grad():", "with torch.inference_mode():",
                                            "with torch.device('cpu'):"))):  # fmt: skip
            self.statements(2)

    def autocast(self) -> None:
        dtype = self.random.choice(("torch.bfloat16", "torch.float16"))
        device = self.random.choice(('"cpu"', 'device_type="cpu"'))
        enabled = self.random.choice(("", "", "", ", enabled=True", ", enabled=False"))
        name = self.random.choice(("torch.autocast", "torch.amp.autocast"))
        outer = self.scope.autocast
        with self.block(f"with {name}({device}, dtype={dtype}{enabled}):"):
            self.scope.autocast = enabled != ", enabled=False"
            self.statements(3)
            self.scope.autocast = outer

    def walrus(self) -> None:
        value, name = self.expression(), self.fresh()
        with self.block(f"if ({name} := {value.text}) is not None:"):
            self.probe(name, "walrus")
        self.bind(name, value, "walrus")

    def matching(self) -> None:
        if self.random.random() < 0.5:
            with self.block("match n:"):
                self.branches([("case 0:", 1), ("case _:", 1)], "match", other=True)
            self.probe_changed("match")
        else:
            name, value = self.fresh(), self.fitting("x")
            with self.block(f"match ({value.text}, n):"), self.block(f"case ({name}, _):"):
                self.probe(name, "match")

    def closure(self) -> None:
        name, held, result = self.fresh("inner"), self.fitting("f"), self.fresh()
        kept = self.fresh("kept")
        self.write(f"{kept} = {held.text}")
        with self.block(f"def {name}(t):"):
            self.write(f"return t * {kept}")
        given = self.fitting("fm")
        self.write(f"{result} = {name}({given.text})")
        self.bind(result, Typed(result, "float", "any", "closure"))
        self.probe(result, "closure")

    def lambda_variable(self) -> None:
        name = self.fresh("cast")
        self.write(
            f"{name} = lambda t: {self.random.choice(('t.half()', 't + 1.0', 't.double()'))}"
        )
        self.probe(f"{name}({self.fitting('x').text})", "lambda in a variable")

    def early_return(self) -> None:
        with self.block("if flag0 and n > 2:"):
            self.write("return")

    def statement(self) -> None:
        nested = self.scope.depth < 4
        simple = [(self.assignment, 10), (self.probing, 5), (self.in_place, 4), (self.unpacking, 2),
                  (self.swap, 1), (self.walrus, 1), (self.lambda_variable, 1)]  # fmt: skip
        compound = [(self.list_of_tensors, 1), (self.dict_of_tensors, 1), (self.condition, 2),
                    (self.guard, 1), (self.loop, 1.5), (self.exceptions, 1), (self.autocast, 1.5),
                    (self.without_gradients, 0.5), (self.matching, 0.5),
                    (self.closure, 1)]  # fmt: skip
        if self.scope.depth == 1 and self.scope.in_main:
            compound.append((self.early_return, 0.3))
        ways = [*simple, *compound] if nested and self.scope.in_main else simple
        (write,) = self.random.choices([way for way, _ in ways], [weight for _, weight in ways])
        write()

    def statements(self, size: int) -> None:
        for _ in range(self.random.randint(1, size)):
            self.budget -= 1
            self.statement()

    # Functions and classes

    def helper(self) -> None:
        """A function of the module: of positional, default, keyword or starred parameters."""
        name = self.fresh("helper")
        parameters = {key: Typed(key, "float", "square", "parameter") for key in ("a", "b")}
        way = self.random.choice(("positional", "default", "keyword", "starred", "dtype"))
        head = {
            "positional": "a, b",
            "default": "a, b=torch.ones(3, 3)",
            "keyword": "a, *, b",
            "starred": "*args",
            "dtype": "a, dtype=torch.float16",
        }[way]
        annotated = head.replace("a, b", "a: torch.Tensor, b: torch.Tensor")
        head = annotated if way == "positional" and self.random.random() < 0.3 else head
        if way == "dtype":
            del parameters["b"]
        with self.function(f"def {name}({head}):", parameters):
            if way == "starred":
                self.write("a, b = args")
            if way == "dtype":
                self.write("a = a.to(dtype)")
            self.budget = 2
            self.statements(2)
            if self.random.random() < 0.2:
                with self.block("if a.dtype == torch.float32:"):
                    self.write("return a")
            value = self.expression(1)
            self.write(f"return {value.text}")
        results = (value.kind, value.shape)

        def call() -> Typed:
            one, other = self.fitting("fm").text, self.fitting("fm").text
            text = {
                "positional": f"{name}({one}, {other})",
                "default": f"{name}({one})",
                "keyword": f"{name}({one}, b={other})",
                "starred": f"{name}({one}, {other})",
                "dtype": f"{name}({one}, {self.random.choice(FLOATING)})",
            }[way]
            return Typed(text, *results, f"call of a function ({way})")

        self.functions.append(Function(call))

    def recursion(self) -> None:
        name = self.fresh("again")
        step = self.random.choice(("t + 1", "t.half()", "t * 2.0", "t.double()"))
        with self.block(f"def {name}(t, count):"):
            with self.block("if count <= 0:"):
                self.write("return t")
            self.write(f"return {name}({step}, count - 1)")

        def call() -> Typed:
            return Typed(f"{name}({self.fitting('fm').text}, 2)", "float", "square", "recursion")

        self.functions.append(Function(call))

    def holder(self) -> None:
        """A class that keeps tensors: a plain one, a dataclass or a named tuple."""
        name = self.fresh("Holder")
        way = self.random.choice(("class", "dataclass", "NamedTuple"))
        first, second = self.random.choice(FLOATING), self.random.choice(FLOATING)
        if way == "class":
            with self.block(f"class {name}:"):
                with self.block("def __init__(self, first, second=None):"):
                    self.write("self.first = first")
                    self.write(f"self.second = torch.zeros(3, 3, dtype={first})")
                with self.block("def update(self, value):"):
                    self.write(f"self.second = value.to({second})")
                with self.block("def product(self):"):
                    self.write("return self.first * self.second")
        else:
            if way == "dataclass":
                self.write("@dataclass")
            base = "(NamedTuple)" if way == "NamedTuple" else ""
            with self.block(f"class {name}{base}:"):
                self.write("first: torch.Tensor")
                self.write("second: torch.Tensor")
                with self.block("def product(self):"):
                    self.write("return self.first * self.second")

        def call() -> Typed:
            instance = self.fresh("holder")
            one, other = self.fitting("fm").text, self.fitting("fm").text
            self.write(f"{instance} = {name}({one}, second={other})")
            self.probe(f"{instance}.first", f"field of a {way}")
            self.probe(f"{instance}.second", f"field of a {way}")
            if way == "class" and self.random.random() < 0.5:
                self.write(f"{instance}.update({other})")
                self.probe(f"{instance}.second", "field that a method sets")
            if way == "dataclass" and self.random.random() < 0.5:
                self.write(f"{instance}.first = {other}.double()")
                self.probe(f"{instance}.first", "field that is assigned")
            return Typed(f"{instance}.product()", "float", "square", f"method of a {way}")

        self.functions.append(Function(call))

    def module(self) -> None:
        """An `nn.Module`, called in the dtype that its parameters have."""
        name = self.fresh("Net")
        last = self.random.choice(("y", "y.float()", "self.norm(y)", "F.softmax(y, -1)", "y + x"))
        with self.block(f"class {name}(nn.Module):"):
            with self.block("def __init__(self):"):
                self.write("super().__init__()")
                self.write("self.linear = nn.Linear(3, 3)")
                self.write("self.norm = nn.LayerNorm(3)")
                self.write("self.scale = nn.Parameter(torch.ones(3))")
                self.write('self.register_buffer("mask", torch.ones(3, dtype=torch.float32))')
            with self.block("def forward(self, x):"):
                self.write("y = self.linear(x)")
                self.probe("y", "forward")
                self.probe("self.scale", "parameter of a module")
                self.write("y = y * self.scale + self.mask")
                self.write(f"return {last}")

        def call() -> Typed:
            instance = self.fresh("net")
            cast, dtype = self.random.choice(
                (("", "torch.get_default_dtype()"), (".half()", "torch.float16"),
                 (".bfloat16()", "torch.bfloat16"), (".to(torch.float64)", "torch.float64"),
                 (".eval()", "torch.get_default_dtype()"))
            )  # fmt: skip
            self.write(f"{instance} = {name}(){cast}")
            given = f"{self.fitting('fm').text}.to({dtype})"
            if self.random.random() < 0.3:
                given = f"{self.fitting('fm').text}.to({instance}.linear.weight.dtype)"
            text = f"{instance}({given})"
            return Typed(text, "float", "square", "call of a module")

        self.functions.append(Function(call))

    def layer(self) -> None:
        """A module of torch on its own."""
        layers = ("nn.Linear(3, 3)", "nn.LayerNorm(3)", "nn.Sequential(nn.Linear(3, 3), nn.ReLU())",
                  "nn.Linear(3, 3, bias=False)")  # fmt: skip

        def call() -> Typed:
            instance, dtype = self.fresh("layer"), self.random.choice(FLOATING)
            made = self.random.choice(layers)
            if made.startswith("nn.L") and self.random.random() < 0.5:
                self.write(f"{instance} = {made[:-1]}, dtype={dtype})")
            else:
                self.write(f"{instance} = {made}.to({dtype})")
            text = f"{instance}({self.fitting('fm').text}.to({dtype}))"
            return Typed(text, "float", "square", "call of a layer of torch")

        self.functions.append(Function(call))

    # The program

    def program(self) -> Program:
        random = self.random
        if random.random() < 0.1:
            self.write(f"torch.set_default_dtype({random.choice(FLOATING)})")
        self.write(f"dtype = {random.choice(FLOATING)}")
        self.write("flag0, flag1, n = True, False, 2")
        makers = [self.helper, self.helper, self.recursion, self.holder, self.module, self.layer]
        for make in random.sample(makers, random.choice((0, 1, 1, 2))):
            make()
        with self.block("def main(flag0, flag1, n):"):
            for _ in range(3):
                factory = self.filled(random.choice(FACTORIES))
                assert factory
                name = self.fresh()
                self.write(f"{name} = {factory[0]}")
                self.bind(name, factory[1][0])
                self.probe(name, factory[1][0].construct)
            self.budget = random.randint(8, 18)
            while self.budget > 0:
                self.statements(1)
        return Program(IMPORTS + "\n".join(self.lines) + "\n", tuple(self.constructs))


def _largest(words: str, order: Sequence[str], slots: dict[str, str]) -> str:
    """The kind or shape that `words` stand for: a word of its own, a slot's, or the largest."""
    return max((slots.get(word, word) for word in words.split("+")), key=order.index)
