"""What the project's configuration says of the settings and packages that code uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from precision_lint.facts.dtypes.domain.values import Dtype
from precision_lint.facts.dtypes.libraries import hooks
from precision_lint.facts.dtypes.syntax.definitions import Module
from precision_lint.facts.origin import Origin, Setting
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.transformers_release import is_before_5
from precision_lint.facts.settings import holds_settings
from precision_lint.model.dtypes import BFLOAT16
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name

Scenario = Callable[[ast.expr], bool | None]
"""Whether a condition holds in one run of the project; None if the settings of it do not say."""

_WIDENING = regex(
    r"(?:(?:AutoModel|CodeGen|Cohere|GPTJ|GPTNeo|Gemma2?|Granite|Jamba|Llama|Mistral|Mixtral"
    r"|Nemotron|Olmoe?|Phi3?|Qwen2(?:Moe)?|Starcoder2)ForCausalLM"
    r"|(?:Chameleon|Idefics2|Llava(?:Next(?:Video)?|Onevision)?|PaliGemma|Qwen2VL|VideoLlava"
    r"|VipLlava)ForConditionalGeneration"
    r"|AutoModelForVision2Seq)\.from_pretrained$"
)
"""Classes of transformers 4.45.2 whose forward pass ends with `logits.float()`.

Those of vision may return the logits of another one, and the automatic ones load them (read; 4.31.0
is the first whose Llama does, 4.46.3 the first whose Llama does not).
"""
_WIDENING_SINCE, _WIDENING_UNTIL = (4, 31), (4, 46)

_ALWAYS_WIDENING = regex(
    r"(?:Blt|FalconMamba|Mamba2?|Mllama|NemotronH|xLSTM)For(?:CausalLM|ConditionalGeneration)"
    r"\.from_pretrained$"
)
"""Classes whose forward pass ends with `logits.float()` (read in transformers 5.23.0)."""


class Configuration:
    """The configuration of one project, as its modules read it; of one run with a `scenario`."""

    def __init__(self, project: Recording, scenario: Scenario | None = None) -> None:
        self._project = project
        self._scenario = scenario

    def holds(self, test: ast.expr) -> bool | None:
        """Whether a condition holds in the run that is judged; None if that is not known."""
        return None if self._scenario is None else self._scenario(test)

    def setting(self, module: Module, path: str | None) -> Setting | None:
        """What the configuration makes of `cfg.training.precision`, or of no path: nothing."""
        names = re.findall(r"\w+", path or "")
        for position, name in enumerate(names[:-1]):
            if holds_settings(name):
                asked = tuple(names[position + 1 :])
                return self._project.setting(asked, module.file.text.path)
        return None

    def under(self, module: Module, keys: tuple[str, ...]) -> Setting | None:
        """What the project's files say under some keys of a mapping that is read from one."""
        return self._project.setting(keys, module.file.text.path)

    def option(self, module: Module, name: str) -> Setting | None:
        """What the project makes of an option of the command line."""
        return self._project.setting((name,), module.file.text.path)

    def key(self, module: Module, section: str, name: str) -> Setting | None:
        """What the project makes of a key of a section: `dtype` under `model`."""
        return self._project.setting((section, name), module.file.text.path)

    def variable(self, module: Module, name: str) -> Setting | None:
        """What the project's env files and launch scripts make of an environment variable."""
        return self._project.variable(name, module.file.text.path)

    def loads_in_float32(self, name: str) -> bool:
        """True if `from_pretrained` of a class gives float32 whatever the checkpoint holds.

        So does diffusers (0.42), and transformers before 5.
        """
        return name.startswith("diffusers.") or is_before_5(self._project)

    def widens_logits(self, name: str) -> bool:
        """True if what `from_pretrained` of a class loads gives logits in float32."""
        if _ALWAYS_WIDENING.search(name) is not None:
            return True
        version = self._project.version_of("transformers")
        is_of_that_time = version is not None and _WIDENING_SINCE <= version < _WIDENING_UNTIL
        return is_of_that_time and _WIDENING.search(name) is not None

    def adapts_in_float32(self) -> bool:
        """True if PEFT makes adapters float32 whatever the model is in, as it does since 0.12: the
        wheels of 0.11 have no `autocast_adapter_dtype`.
        """
        version = self._project.version_of("peft")
        return version is None or version >= (0, 12)

    def lightning_dtype(self, module: Module) -> Dtype | None:
        """The dtype in which a run of the project lets Lightning autocast; None if none does."""
        path = module.file.text.path
        setting = self._project.setting(("precision",), path)
        for choice in () if setting is None else setting.choices:
            is_meant = self._project.concerns(choice.origin.source.path, path)
            if is_meant and hooks.MIXED.get(str(choice.value)) == BFLOAT16:
                return _perhaps_bfloat16(choice.origin)
        for user in self._project.python_sources_matching(_BFLOAT16_PRECISION):
            if user == path or self._project.uses(user, path):
                run = self._project.module(user)
                for origin in () if run is None else _trainers(run):
                    return _perhaps_bfloat16(origin)
        return None


_BFLOAT16_PRECISION = rb"""\bprecision[ \t]*=[ \t]*["']bf16["'-]"""


def _trainers(run: ParsedPython) -> Iterator[Origin]:
    """Where a program makes a trainer that autocasts to bfloat16."""
    for node in run.nodes:
        if isinstance(node, ast.Call) and callee_name(node) == "Trainer":
            for keyword in node.keywords:
                match keyword.arg, keyword.value:
                    case "precision", ast.Constant(value=str(name)) if (
                        hooks.MIXED.get(name) == BFLOAT16
                    ):
                        text = f"the trainer runs in {name}"
                        yield Origin(run.text, run.span_of(keyword.value), text)


def _perhaps_bfloat16(origin: Origin) -> Dtype:
    return Dtype(frozenset({BFLOAT16}), may_be_other=True, origin=origin)
