"""One interpretation of a file from its start: the parts that take part in it, and how they fit.

    asked calls --> Tracing --> Activations --> StatementInterpreter --> Evaluator
                       ^                                                     |
                       |       a call, a name, an attribute, a parameter     v
                       +----- Callers, Instances <----- Names, Classes, Summaries

Tracing interprets bodies for the calls that rules asked for. Their expressions lead to summaries
of other functions, to attributes, and to callers, which are traced in turn. On the way, `Records`
takes down calls and assignments, and the table holds what is computed once (see `fixpoint`).
"""

from __future__ import annotations

import ast

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call, Calls, Region
from precision_lint.facts.dtypes.interpreter.asked import Asked
from precision_lint.facts.dtypes.interpreter.budget import Budget
from precision_lint.facts.dtypes.interpreter.closures import Closures
from precision_lint.facts.dtypes.interpreter.configuration import Configuration, Scenario
from precision_lint.facts.dtypes.interpreter.entries import new_table
from precision_lint.facts.dtypes.interpreter.records import Records
from precision_lint.facts.dtypes.whole_program.activations import Activations
from precision_lint.facts.dtypes.whole_program.callbacks import Callbacks
from precision_lint.facts.dtypes.whole_program.callers import Callers
from precision_lint.facts.dtypes.whole_program.calling import Calling
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.files import Files
from precision_lint.facts.dtypes.whole_program.insides import Insides
from precision_lint.facts.dtypes.whole_program.instances import Instances
from precision_lint.facts.dtypes.whole_program.loading import Loading
from precision_lint.facts.dtypes.whole_program.moving import Moving
from precision_lint.facts.dtypes.whole_program.names import Names
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.dtypes.whole_program.reaching import Reaching
from precision_lint.facts.dtypes.whole_program.regions import Regions
from precision_lint.facts.dtypes.whole_program.summaries import Summaries
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.model.dtypes import FLOAT32


class Subject:
    """What does not change while a file is analyzed, however often it is interpreted."""

    def __init__(
        self,
        file: PythonFile,
        asked: Asked,
        scenario: Scenario | None,
        around: Region | None = None,
        *,
        is_aside: bool = False,
    ) -> None:
        self.program = Program(file)
        self.module = self.program.main
        self.asked = asked
        self.calls = Calls(self.module.imports)
        is_small = not asked.names_torch or file.project.is_secondary(file.text.path)
        self.budget = Budget(is_small=is_small, is_aside=is_aside)
        self.configuration = Configuration(file.project, scenario)
        defaults = self.module.default_dtypes
        self.default_dtype = FLOAT32 if defaults is None else defaults.agreed
        self.around = around
        self.closures = Closures()

    def close(self) -> None:
        """The file is analyzed."""
        self.closures.close()


class Interpretation:
    """One interpretation of a file; nothing is known of it at first but some calls in `found`.

    `in_half` makes it that of a run whose weights are in half precision (see `half_run`), and
    `of_program` that of the file as a program (see `program_run`): it takes the calls that this run
    comes to.
    """

    def __init__(
        self,
        subject: Subject,
        found: dict[ast.expr, Call],
        *,
        is_intraprocedural: bool,
        in_half: list[Call] | None = None,
        of_program: list[Call] | None = None,
    ) -> None:
        self.is_intraprocedural = is_intraprocedural
        self.is_half_run = in_half is not None
        self.is_program_run = of_program is not None
        self.default_dtype = subject.default_dtype
        self.budget = subject.budget
        self.configuration = subject.configuration
        self.closures = subject.closures
        program = subject.program
        table = new_table(subject.budget.is_running_late)
        self.records = Records(
            subject.asked,
            subject.module,
            subject.calls,
            found,
            table,
            is_intraprocedural=is_intraprocedural,
            every=of_program if in_half is None else in_half,
        )
        self.names = Names(self, program, table)
        self.classes = Classes(self)
        calling = Calling(program, self.classes)
        self.regions = Regions(self, self.classes, calling, subject.around)
        activations = Activations(self, self.regions)
        self.tracing = Tracing(self, subject.asked, activations, self.regions, table)
        callbacks = Callbacks(program)
        self.callers = Callers(self, self.classes, calling, callbacks, self.tracing, table)
        self.resolve = self.callers.resolve
        self.reaching = Reaching(calling, self.classes, program)
        self.moving = Moving(self, self.classes, calling, self.tracing, self.resolve)
        self.loading = Loading(self, program, self.classes, self.tracing, self.resolve)
        self.instances = Instances(
            self, program, self.classes, self.tracing, self.moving, self.resolve, table
        )
        self.insides = Insides(self, self.classes, table)
        self.files = Files(self, program, self.tracing, self.resolve, table)
        self.summaries = Summaries(self, activations, table)

    def close(self) -> None:
        """Let go of the parts, which refer to each other: see `Memo.forget`."""
        vars(self.callers).clear()
        vars(self).clear()
