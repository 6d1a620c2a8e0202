"""The names of `rule_api`, for type checkers. Written by scripts/generate.py."""

from precision_lint.facts.amp.autocast import AutocastCall as AutocastCall
from precision_lint.facts.amp.autocast import RegionNode as RegionNode
from precision_lint.facts.amp.autocast import autocast_call as autocast_call
from precision_lint.facts.amp.autocast import autocasts as autocasts
from precision_lint.facts.amp.autocast import multiplied as multiplied
from precision_lint.facts.amp.autocast import records_no_gradients as records_no_gradients
from precision_lint.facts.amp.autocast import region_of as region_of
from precision_lint.facts.amp.autocast import regions_around as regions_around
from precision_lint.facts.amp.bfloat16_scaling import SCALING_CALLS as SCALING_CALLS
from precision_lint.facts.amp.bfloat16_scaling import Scaling as Scaling
from precision_lint.facts.amp.bfloat16_scaling import ScalingForm as ScalingForm
from precision_lint.facts.amp.bfloat16_scaling import scaling_at as scaling_at
from precision_lint.facts.amp.bfloat16_scaling import scaling_in as scaling_in
from precision_lint.facts.amp.deprecated_api import DEPRECATED_FUNCTIONS as DEPRECATED_FUNCTIONS
from precision_lint.facts.amp.deprecated_api import DeprecatedImport as DeprecatedImport
from precision_lint.facts.amp.deprecated_api import DeprecatedUse as DeprecatedUse
from precision_lint.facts.amp.deprecated_api import deprecated_amp as deprecated_amp
from precision_lint.facts.amp.deprecated_api import is_interchangeable as is_interchangeable
from precision_lint.facts.amp.deprecated_api import turns_cache_off as turns_cache_off
from precision_lint.facts.amp.devices import Device as Device
from precision_lint.facts.amp.devices import DeviceKind as DeviceKind
from precision_lint.facts.amp.devices import device_of as device_of
from precision_lint.facts.amp.events import Event as Event
from precision_lint.facts.amp.events import EventKind as EventKind
from precision_lint.facts.amp.events import scalers_made as scalers_made
from precision_lint.facts.amp.float16_weights import FLOAT16_CALLS as FLOAT16_CALLS
from precision_lint.facts.amp.float16_weights import Float16Weights as Float16Weights
from precision_lint.facts.amp.float16_weights import float16_adapters as float16_adapters
from precision_lint.facts.amp.float16_weights import float16_models as float16_models
from precision_lint.facts.amp.other_devices import fixed_devices as fixed_devices
from precision_lint.facts.amp.protocol import TrainingStep as TrainingStep
from precision_lint.facts.amp.scaler_order import Disorder as Disorder
from precision_lint.facts.amp.scaler_order import DisorderForm as DisorderForm
from precision_lint.facts.amp.scaler_order import disorders as disorders
from precision_lint.facts.amp.scalers import conditions_around as conditions_around
from precision_lint.facts.amp.scalers import makes_grad_scaler as makes_grad_scaler
from precision_lint.facts.amp.shared_pipelines import PipelineCast as PipelineCast
from precision_lint.facts.amp.shared_pipelines import shared_pipelines as shared_pipelines
from precision_lint.facts.amp.signatures import SIGNATURES as SIGNATURES
from precision_lint.facts.amp.signatures import Mismatch as Mismatch
from precision_lint.facts.amp.signatures import WrongCall as WrongCall
from precision_lint.facts.amp.signatures import wrong_calls as wrong_calls
from precision_lint.facts.amp.states import Gradients as Gradients
from precision_lint.facts.amp.states import State as State
from precision_lint.facts.amp.switches import Ignoring as Ignoring
from precision_lint.facts.amp.switches import ignoring as ignoring
from precision_lint.facts.amp.torch_version import oldest_torch as oldest_torch
from precision_lint.facts.amp.trainer_runs import TrainerRun as TrainerRun
from precision_lint.facts.amp.trainer_runs import launched_runs as launched_runs
from precision_lint.facts.amp.unscalers import unscaler as unscaler
from precision_lint.facts.context import ConfigFile as ConfigFile
from precision_lint.facts.context import PythonFile as PythonFile
from precision_lint.facts.dtypes import sinks as sinks
from precision_lint.facts.dtypes.calls import Argument as Argument
from precision_lint.facts.dtypes.calls import Call as Call
from precision_lint.facts.dtypes.calls import Region as Region
from precision_lint.facts.dtypes.conditions import (
    guard_excludes_bfloat16 as guard_excludes_bfloat16,
)
from precision_lint.facts.dtypes.values import ModelOutput as ModelOutput
from precision_lint.facts.dtypes.values import Tensor as Tensor
from precision_lint.facts.frameworks.triggers import CONFIG_TRIGGERS as CONFIG_TRIGGERS
from precision_lint.facts.frameworks.verdicts import verdicts as verdicts
from precision_lint.facts.triton.dtypes import HALF as HALF
from precision_lint.facts.triton.findings import note_findings as note_findings
from precision_lint.facts.triton.findings import rejection_findings as rejection_findings
from precision_lint.facts.triton.kernels import Kernel as Kernel
from precision_lint.facts.triton.notes import Note as Note
from precision_lint.facts.triton.notes.remedies import Pin as Pin
from precision_lint.facts.triton.rejections import ReportedError as ReportedError
from precision_lint.facts.triton.remedies import Remedy as Remedy
from precision_lint.model.dtypes import ALIASES as ALIASES
from precision_lint.model.dtypes import BFLOAT16 as BFLOAT16
from precision_lint.model.dtypes import DTYPES as DTYPES
from precision_lint.model.dtypes import FLOAT16 as FLOAT16
from precision_lint.model.dtypes import FLOATING as FLOATING
from precision_lint.model.finding import Applicability as Applicability
from precision_lint.model.finding import Confidence as Confidence
from precision_lint.model.finding import Edit as Edit
from precision_lint.model.finding import Finding as Finding
from precision_lint.model.finding import Fix as Fix
from precision_lint.model.finding import Related as Related
from precision_lint.model.finding import Severity as Severity
from precision_lint.model.finding import Span as Span
from precision_lint.model.memo import fact as fact
from precision_lint.model.precision import precision_of as precision_of
from precision_lint.model.rule import Rule as Rule
from precision_lint.source.python.bindings import attribute as attribute
from precision_lint.source.python.bindings import binding as binding
from precision_lint.source.python.bindings import enclosing_class as enclosing_class
from precision_lint.source.python.compatibility import (
    is_for_another_version as is_for_another_version,
)
from precision_lint.source.python.statements import Leaving as Leaving
from precision_lint.source.python.statements import Loop as Loop
from precision_lint.source.python.statements import With as With
from precision_lint.source.python.statements import own_nodes as own_nodes
from precision_lint.source.python.syntax import callee_name as callee_name
from precision_lint.source.python.syntax import dotted as dotted
from precision_lint.source.python.syntax import last_name as last_name
from precision_lint.source.python.syntax import qualified as qualified
from precision_lint.source.python.syntax_tree import Scope as Scope
from precision_lint.source.python.syntax_tree import SyntaxTree as SyntaxTree
from precision_lint.source.python.syntax_tree import syntax_tree as syntax_tree

NAMES: dict[str, str]
