"""Calls that take a precision: of libraries, of frameworks, by an argument that names one."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from precision_lint.facts.frameworks.recognition import called, taking
from precision_lint.facts.runs.code.torch_sinks import LOADERS, TorchPlace
from precision_lint.facts.settings.vocabulary import (
    is_level_of_precision,
    may_choose_precision,
    names_precision,
)
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_TELLING = frozenset({
    "print", "log", "info", "debug", "warning", "warn", "error", "format", "dict", "update", "init",
    "Namespace", "SimpleNamespace", "add_argument", "add_option", "set_defaults", "field", "Field",
    "option", "replace", "write", "append", "log_params", "dump", "dumps", "getattr", "partial",
})  # fmt: skip
"""Callees that only say what the settings are, or keep them."""
_TELLS = regex(
    r"log_(?:warn\w*|info|debug|error|message|msg|metrics?|config\w*|args|event|once|summary"
    r"|hyper\w*|param\w*|settings?)|(?:print|warn)_\w+|rank_?(?:0|zero)_(?:print|log|info|warn\w*)"
)
"""The same of a program's own: `log_warning(text, precision="bf16")`; `log_softmax` computes."""
_NOTING = frozenset({
    "wandb", "mlflow", "neptune", "comet_ml", "swanlab", "clearml", "tensorboard", "tensorboardX",
    "loguru", "rich", "tqdm", "omegaconf", "yaml", "pandas", "click", "typer",
})  # fmt: skip
"""Libraries that note down what a run does, or hold its settings."""
_TABLES = frozenset({"EasyDict", "edict", "AttrDict", "ConfigDict", "Munch"})
"""Tables whose keys are members as well."""
_KEEPING = regex(
    r"(?:args|config|cfg|opts|options|params|settings|parser|namespace)$", re.IGNORECASE
)
"""Names of classes that hold settings."""
_FOR_LOADING = regex(r"(?:^|_)(?:model|init|load|loading)_(?:\w+_)?kwargs$")
"""Names of tables that somebody else gives to what loads a model."""
_QUANTIZED = ("load_in_4bit", "load_in_8bit", "bnb_4bit_quant_storage", "use_bnb_nested_quant")
_READ_BY_TRL = {"get_quantization_config": (*_QUANTIZED, "bnb_4bit_quant_type")}
"""Functions of TRL, with the fields of its `ModelConfig` that they read."""
_OF_WEIGHTS = "bnb_4bit_"
"""What the arguments about weights in 4 bits begin with."""
_POLICIES = {
    "set_global_policy": "mixed_precision", "set_policy": "mixed_precision", "get_policy": "jmp",
}  # fmt: skip
"""Functions of TensorFlow and JAX whose first argument is a precision, and their modules."""
_OF_APEX = frozenset({"apex.amp.initialize", "apex.amp.scale_loss"})
_OF_JAX = frozenset({"jax_default_matmul_precision", "jax_enable_x64"})
"""Options about precision: `jax.config.update(name, value)`."""


def is_telling(call: ast.Call, file: ParsedPython) -> bool:
    """True for a call that only says what the settings are, or keeps them: no `SFTConfig(…)`."""
    name = callee_name(call)
    is_named = name in _TELLING or _TELLS.fullmatch(name) is not None
    return is_named or (holds_them(name) and not _is_of_framework(call, file))


def holds_them(name: str) -> bool:
    """True for the name of a class that holds settings."""
    return _KEEPING.search(name) is not None


def takes_by_position(node: ast.expr, call: ast.Call, file: ParsedPython) -> bool:
    """True for a precision that TensorFlow or JAX takes by position."""
    path = qualified(call.func, syntax_tree(file).names)
    match call.args:
        case [first, *_] if first is node:
            return _POLICIES.get(callee_name(call), "?") in path
        case [ast.Constant(value=str(option)), value] if value is node:
            return path == "jax.config.update" and option in _OF_JAX
    return False


def takes_settings(call: ast.Call, file: ParsedPython) -> bool:
    """True for a call of a framework, or one that loads a network: `TrainingArguments(**given)`."""
    return callee_name(call) in LOADERS or _is_of_framework(call, file)


def is_precise_key(name: str, call: ast.Call, file: ParsedPython) -> bool:
    """True for an argument that a framework's call has for a precision, whatever its name says:
    `WhisperModel(compute_type=)`, `BitsAndBytesConfig(bnb_4bit_quant_type=)`.
    """
    found = called(qualified(call.func, syntax_tree(file).names))
    return any(
        (name in one.keys and one.keys[name].role != "other") or name.startswith(_OF_WEIGHTS)
        for one in found
    )


def _is_of_framework(call: ast.Call, file: ParsedPython) -> bool:
    return bool(called(qualified(call.func, syntax_tree(file).names)))


def is_of_apex(call: ast.Call, file: ParsedPython) -> bool:
    """True for a call that is for mixed precision, whatever its arguments say."""
    return qualified(call.func, syntax_tree(file).names) in _OF_APEX


def is_of_library(call: ast.Call, file: ParsedPython) -> bool:
    """True for a call of a library that computes: none of Python's own, and none that notes down
    what a run does.
    """
    names = syntax_tree(file).names
    first = (dotted(call.func) or "").partition(".")[0]
    root = names.get(first, "").partition(".")[0]
    return bool(root) and root not in sys.stdlib_module_names and root not in _NOTING


def unpacked(
    call: ast.AST | None, key: str, value: ast.expr, file: ParsedPython
) -> Iterator[TorchPlace]:
    """The argument of a call that an entry of an unpacked table is."""
    if not isinstance(call, ast.Call) or is_telling(call, file) or _lacks(call, key, file):
        return
    if may_choose_precision(key):
        yield TorchPlace("argument", call, file, value, subject=f"{callee_name(call)}({key}=)")


def _lacks(call: ast.Call, key: str, file: ParsedPython) -> bool:
    """True for a class of a framework that has no such field: what it gets is chosen before."""
    return any(
        key in (name, *framework.keys[name].aliases)
        for framework in called(qualified(call.func, syntax_tree(file).names))
        for name in framework.program_keys
    )


def kept_for_loading(table: ast.expr, key: str, file: ParsedPython) -> Iterator[TorchPlace]:
    """The argument of a loader that a table holds which something else unpacks:
    `SFTConfig(model_init_kwargs=table)`, `args.model_init_kwargs = table`.
    """
    syntax = syntax_tree(file)
    parent = syntax.parent(table)
    match parent:
        case ast.keyword(arg=str(name)) if _FOR_LOADING.search(name):
            call = syntax.parent(parent)
            if isinstance(call, ast.Call) and may_choose_precision(key):
                subject = f"{callee_name(call)}({name}={{{key}}})"
                yield TorchPlace("argument", call, file, table, subject=subject)
        case ast.Assign(targets=[ast.Attribute(attr=name)]) if _FOR_LOADING.search(name):
            if may_choose_precision(key):
                subject = f"{name}={{{key}}}"
                yield TorchPlace("argument", parent, file, table, subject=subject)


def in_table(
    call: ast.Call, argument: str, path: str, at: ast.Call | ast.Assign, file: ParsedPython
) -> Iterator[TorchPlace]:
    """A key of a framework in the table that a call gets as an argument: `fp16.hysteresis` of
    `deepspeed.initialize(config=table)`, which is put there `at` a statement.
    """
    for framework, way in taking(qualified(call.func, syntax_tree(file).names)):
        is_key = path in framework.keys or any(
            key.startswith(f"{path}.") and may_choose_precision(key) for key in framework.keys
        )
        if argument in way.takes and is_key:
            called_as = qualified(call.func, syntax_tree(file).names)
            subject = f"{called_as}({argument}={{{path}}})"
            yield TorchPlace("argument", at, file, subject=subject)


def is_display(call: ast.Call) -> bool:
    """True for `dict(name=value)`, `EasyDict(name=value)`, which is a table."""
    is_plain = isinstance(call.func, ast.Name) and call.func.id in ("dict", "OrderedDict")
    return is_plain or callee_name(call) in _TABLES


def takes_object(call: ast.Call, key: str, file: ParsedPython) -> TorchPlace | None:
    """A function of a library that reads a setting of an object which it gets as a whole."""
    path = qualified(call.func, syntax_tree(file).names)
    module, _, name = path.rpartition(".")
    if module.partition(".")[0] == "trl" and key in _READ_BY_TRL.get(name, ()):
        return TorchPlace("argument", call, file, call, subject=f"{name}()")
    return None


def written_out(call: ast.Call, file: ParsedPython) -> Iterator[TorchPlace]:
    """The precisions that a call writes out: `load(name, dtype="half")`, a flag of TensorRT."""
    name = callee_name(call)
    for argument in call.args:
        items = argument.elts if isinstance(argument, ast.List) else (argument,)
        for item in items if name in ("append", "extend") else ():
            match item:
                case ast.Constant(value=str(option)) if is_option_of_precision(option):
                    subject = f"a command ({option})"
                    yield TorchPlace("argument", call, file, item, subject=subject)
    if is_telling(call, file):
        return
    if is_of_apex(call, file):
        path = qualified(call.func, syntax_tree(file).names)
        yield TorchPlace("argument", call, file, call, subject=f"{path}()")
    for keyword in call.keywords:
        if keyword.arg and _is_choice(keyword.arg, keyword.value):
            subject = f"{name}({keyword.arg}=)"
            yield TorchPlace("argument", call, file, keyword.value, subject=subject)
    for argument in call.args:
        flag = dotted(argument) or ""
        if "BuilderFlag." in flag and may_choose_precision(last_name(argument)):
            yield TorchPlace("argument", call, file, argument, subject=f"{name}({flag})")


def is_option_of_precision(word: str) -> bool:
    """True for `--half`, `--mixed_precision=bf16`: a word for another program."""
    name = word.lstrip("-").partition("=")[0].replace("-", "_")
    return word.startswith("--") and may_choose_precision(name)


def _is_choice(name: str, node: ast.expr) -> bool:
    """True for an argument that says a precision: `dtype="half"`, `opt_level="O1"`."""
    is_level = isinstance(node, ast.Constant) and is_level_of_precision(name, node.value)
    return is_level or (may_choose_precision(name) and _is_precision(node))


def _is_precision(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is True or names_precision(value)
    return names_precision(last_name(node))
