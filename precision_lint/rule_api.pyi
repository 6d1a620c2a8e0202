"""The names of `rule_api`, for type checkers. Written by scripts/generate.py."""

from precision_lint.facts.amp.bits_arguments import BitsArgument as BitsArgument
from precision_lint.facts.amp.bits_arguments import bits_arguments as bits_arguments
from precision_lint.facts.amp.deprecated_api import DEPRECATED_FUNCTIONS as DEPRECATED_FUNCTIONS
from precision_lint.facts.amp.deprecated_api import DeprecatedImport as DeprecatedImport
from precision_lint.facts.amp.deprecated_api import DeprecatedUse as DeprecatedUse
from precision_lint.facts.amp.deprecated_api import deprecated_amp as deprecated_amp
from precision_lint.facts.amp.deprecated_api import is_in_every_torch as is_in_every_torch
from precision_lint.facts.amp.deprecated_api import is_interchangeable as is_interchangeable
from precision_lint.facts.amp.deprecated_api import turns_cache_off as turns_cache_off
from precision_lint.facts.amp.float16_weights import FLOAT16_CALLS as FLOAT16_CALLS
from precision_lint.facts.amp.float16_weights import Float16Weights as Float16Weights
from precision_lint.facts.amp.float16_weights import float16_adapters as float16_adapters
from precision_lint.facts.amp.float16_weights import float16_models as float16_models
from precision_lint.facts.amp.float16_weights import may_train_float16 as may_train_float16
from precision_lint.facts.amp.launch_backends import (
    accelerator_may_run_in_backend as accelerator_may_run_in_backend,
)
from precision_lint.facts.amp.launch_backends import may_run_in_backend as may_run_in_backend
from precision_lint.facts.amp.load_dtypes import LOADING as LOADING
from precision_lint.facts.amp.load_dtypes import LoadDtype as LoadDtype
from precision_lint.facts.amp.load_dtypes import load_dtypes as load_dtypes
from precision_lint.facts.amp.missing_names import MissingName as MissingName
from precision_lint.facts.amp.missing_names import missing_names as missing_names
from precision_lint.facts.amp.quantized_loads import QuantizedLoad as QuantizedLoad
from precision_lint.facts.amp.quantized_loads import quantized_load as quantized_load
from precision_lint.facts.amp.regions.autocast import WITHOUT_GRADIENTS as WITHOUT_GRADIENTS
from precision_lint.facts.amp.regions.autocast import AutocastCall as AutocastCall
from precision_lint.facts.amp.regions.autocast import RegionNode as RegionNode
from precision_lint.facts.amp.regions.autocast import autocast_call as autocast_call
from precision_lint.facts.amp.regions.autocast import autocasts as autocasts
from precision_lint.facts.amp.regions.autocast import multiplied as multiplied
from precision_lint.facts.amp.regions.autocast import records_no_gradients as records_no_gradients
from precision_lint.facts.amp.regions.autocast import region_of as region_of
from precision_lint.facts.amp.regions.autocast import regions_around as regions_around
from precision_lint.facts.amp.regions.cached_copies import follows as follows
from precision_lint.facts.amp.regions.cached_copies import is_on as is_on
from precision_lint.facts.amp.regions.cached_copies import keeps_copies as keeps_copies
from precision_lint.facts.amp.regions.cached_copies import optimized as optimized
from precision_lint.facts.amp.regions.cached_copies import position as position
from precision_lint.facts.amp.regions.cached_copies import without_copies as without_copies
from precision_lint.facts.amp.regions.chosen import options_for as options_for
from precision_lint.facts.amp.regions.cuda_devices import may_be_cuda as may_be_cuda
from precision_lint.facts.amp.regions.devices import Device as Device
from precision_lint.facts.amp.regions.devices import DeviceKind as DeviceKind
from precision_lint.facts.amp.regions.devices import device_of as device_of
from precision_lint.facts.amp.regions.dropped import dropped as dropped
from precision_lint.facts.amp.regions.entered import entered as entered
from precision_lint.facts.amp.regions.entered_elsewhere import EnteredElsewhere as EnteredElsewhere
from precision_lint.facts.amp.regions.entered_elsewhere import (
    entered_elsewhere as entered_elsewhere,
)
from precision_lint.facts.amp.regions.gradients_off import gradients_are_off as gradients_are_off
from precision_lint.facts.amp.regions.half_regions import (
    may_train_under_autocast as may_train_under_autocast,
)
from precision_lint.facts.amp.regions.other_devices import fixed_devices as fixed_devices
from precision_lint.facts.amp.regions.switches import Ignoring as Ignoring
from precision_lint.facts.amp.regions.switches import ignoring as ignoring
from precision_lint.facts.amp.scaling.accelerated_clips import AcceleratedClip as AcceleratedClip
from precision_lint.facts.amp.scaling.accelerated_clips import (
    accelerated_clips as accelerated_clips,
)
from precision_lint.facts.amp.scaling.bfloat16_scaling import SCALING_CALLS as SCALING_CALLS
from precision_lint.facts.amp.scaling.bfloat16_scaling import Scaling as Scaling
from precision_lint.facts.amp.scaling.bfloat16_scaling import ScalingForm as ScalingForm
from precision_lint.facts.amp.scaling.bfloat16_scaling import scaling_at as scaling_at
from precision_lint.facts.amp.scaling.bfloat16_scaling import scaling_in as scaling_in
from precision_lint.facts.amp.scaling.handed_scalers import is_kept as is_kept
from precision_lint.facts.amp.scaling.idle_scalers import is_tested as is_tested
from precision_lint.facts.amp.scaling.resuming import is_refused as is_refused
from precision_lint.facts.amp.scaling.resuming import resumption as resumption
from precision_lint.facts.amp.scaling.saving_calls import scalers_of_callers as scalers_of_callers
from precision_lint.facts.amp.scaling.scaled_penalties import scaled_penalties as scaled_penalties
from precision_lint.facts.amp.scaling.scalers import conditions_around as conditions_around
from precision_lint.facts.amp.scaling.scalers import makes_grad_scaler as makes_grad_scaler
from precision_lint.facts.amp.scaling.unsaved_scalers import UnsavedScaler as UnsavedScaler
from precision_lint.facts.amp.scaling.unsaved_scalers import unsaved_scalers as unsaved_scalers
from precision_lint.facts.amp.scaling.unscaled_accelerators import (
    unscaled_accelerators as unscaled_accelerators,
)
from precision_lint.facts.amp.scaling.unscalers import unscaler as unscaler
from precision_lint.facts.amp.sharded_float16 import float16_shards as float16_shards
from precision_lint.facts.amp.shared_pipelines import PipelineCast as PipelineCast
from precision_lint.facts.amp.shared_pipelines import casts_pipelines as casts_pipelines
from precision_lint.facts.amp.shared_pipelines import shared_pipelines as shared_pipelines
from precision_lint.facts.amp.signatures import SIGNATURES as SIGNATURES
from precision_lint.facts.amp.signatures import Mismatch as Mismatch
from precision_lint.facts.amp.signatures import WrongCall as WrongCall
from precision_lint.facts.amp.signatures import wrong_calls as wrong_calls
from precision_lint.facts.amp.tf32 import RaisingRead as RaisingRead
from precision_lint.facts.amp.tf32 import Written as Written
from precision_lint.facts.amp.tf32 import raising_reads as raising_reads
from precision_lint.facts.amp.tf32 import writes as writes
from precision_lint.facts.amp.torch_version import oldest_torch as oldest_torch
from precision_lint.facts.amp.trainer_runs import TrainerRun as TrainerRun
from precision_lint.facts.amp.trainer_runs import launched_runs as launched_runs
from precision_lint.facts.amp.training_step.events import Event as Event
from precision_lint.facts.amp.training_step.events import EventKind as EventKind
from precision_lint.facts.amp.training_step.events import scalers_made as scalers_made
from precision_lint.facts.amp.training_step.protocol import TrainingStep as TrainingStep
from precision_lint.facts.amp.training_step.scaler_order import Disorder as Disorder
from precision_lint.facts.amp.training_step.scaler_order import DisorderForm as DisorderForm
from precision_lint.facts.amp.training_step.scaler_order import disorders as disorders
from precision_lint.facts.amp.training_step.states import Gradients as Gradients
from precision_lint.facts.amp.training_step.states import State as State
from precision_lint.facts.context import ConfigFile as ConfigFile
from precision_lint.facts.context import PythonFile as PythonFile
from precision_lint.facts.dtypes.batches import BlanketCast as BlanketCast
from precision_lint.facts.dtypes.batches import blanket_casts as blanket_casts
from precision_lint.facts.dtypes.cast_run import meetings_in_cast_models as meetings_in_cast_models
from precision_lint.facts.dtypes.domain.calls import Argument as Argument
from precision_lint.facts.dtypes.domain.calls import Call as Call
from precision_lint.facts.dtypes.domain.calls import Region as Region
from precision_lint.facts.dtypes.domain.calls import Rejection as Rejection
from precision_lint.facts.dtypes.domain.values import Instance as Instance
from precision_lint.facts.dtypes.domain.values import Model as Model
from precision_lint.facts.dtypes.domain.values import ModelOutput as ModelOutput
from precision_lint.facts.dtypes.domain.values import Sequence as Sequence
from precision_lint.facts.dtypes.domain.values import Symbol as Symbol
from precision_lint.facts.dtypes.domain.values import Tensor as Tensor
from precision_lint.facts.dtypes.domain.values import Value as Value
from precision_lint.facts.dtypes.domain.witnesses import witnesses as witnesses
from precision_lint.facts.dtypes.half_run import meetings_in_half as meetings_in_half
from precision_lint.facts.dtypes.interpreter.test_runs import is_of_run as is_of_run
from precision_lint.facts.dtypes.libraries.copies import COPIES as COPIES
from precision_lint.facts.dtypes.operators import sinks as sinks
from precision_lint.facts.dtypes.operators.agreement import Disagreement as Disagreement
from precision_lint.facts.dtypes.operators.agreement import may_disagree as may_disagree
from precision_lint.facts.dtypes.operators.ambient import (
    may_run_under_autocast as may_run_under_autocast,
)
from precision_lint.facts.dtypes.operators.collectives import COLLECTIVES as COLLECTIVES
from precision_lint.facts.dtypes.operators.collectives import may_be_refused as may_be_refused
from precision_lint.facts.dtypes.operators.collectives import refused as refused
from precision_lint.facts.dtypes.operators.disagreements import (
    disagreement_findings as disagreement_findings,
)
from precision_lint.facts.dtypes.operators.lacking import LACKING_CALLS as LACKING_CALLS
from precision_lint.facts.dtypes.operators.lacking import Lacking as Lacking
from precision_lint.facts.dtypes.operators.lacking import lacking as lacking
from precision_lint.facts.dtypes.operators.module_inputs import LAYERS as LAYERS
from precision_lint.facts.dtypes.operators.module_inputs import REJECTED as REJECTED
from precision_lint.facts.dtypes.operators.operands import (
    is_expected_to_fail as is_expected_to_fail,
)
from precision_lint.facts.dtypes.operators.operands import is_unreduced as is_unreduced
from precision_lint.facts.dtypes.operators.operands import (
    may_fail_on_purpose as may_fail_on_purpose,
)
from precision_lint.facts.dtypes.operators.operands import quoted as quoted
from precision_lint.facts.dtypes.operators.operands import text_of as text_of
from precision_lint.facts.dtypes.operators.rejections import callee_text as callee_text
from precision_lint.facts.dtypes.operators.rejections import is_shared_module as is_shared_module
from precision_lint.facts.dtypes.operators.rejections import may_reject as may_reject
from precision_lint.facts.dtypes.operators.rejections import origins as origins
from precision_lint.facts.dtypes.operators.rejections import rejections as rejections
from precision_lint.facts.dtypes.syntax.conditions import (
    guard_excludes_bfloat16 as guard_excludes_bfloat16,
)
from precision_lint.facts.dtypes.syntax.deciding import (
    decides_dtypes_around as decides_dtypes_around,
)
from precision_lint.facts.dtypes.syntax.item_writes import (
    may_be_indexed_write as may_be_indexed_write,
)
from precision_lint.facts.dtypes.syntax.named import names_unusual_dtypes as names_unusual_dtypes
from precision_lint.facts.dtypes.unused_casts import UNUSED_CASTS as UNUSED_CASTS
from precision_lint.facts.dtypes.unused_casts import UnusedCast as UnusedCast
from precision_lint.facts.dtypes.unused_casts import may_be_unused_cast as may_be_unused_cast
from precision_lint.facts.dtypes.unused_casts import unused_cast as unused_cast
from precision_lint.facts.frameworks.triggers import CONFIG_TRIGGERS as CONFIG_TRIGGERS
from precision_lint.facts.frameworks.verdicts import verdicts as verdicts
from precision_lint.facts.hardware.answers import Answer as Answer
from precision_lint.facts.hardware.answers import answers as answers
from precision_lint.facts.hardware.answers import asks_for_a_gpu as asks_for_a_gpu
from precision_lint.facts.hardware.gpus import gpu as gpu
from precision_lint.facts.names.compared import NeverEqual as NeverEqual
from precision_lint.facts.names.compared import is_never_true as is_never_true
from precision_lint.facts.names.compared import never_equal as never_equal
from precision_lint.facts.names.declared import Text as Text
from precision_lint.facts.names.devices_compared import NeverCuda as NeverCuda
from precision_lint.facts.names.devices_compared import devices_compared as devices_compared
from precision_lint.facts.names.keywords import Keywords as Keywords
from precision_lint.facts.names.keywords import keywords_of as keywords_of
from precision_lint.facts.names.mapping import Entry as Entry
from precision_lint.facts.names.mapping import WrongEntry as WrongEntry
from precision_lint.facts.names.mapping import wrong_entries as wrong_entries
from precision_lint.facts.names.texts import texts as texts
from precision_lint.facts.numerics.angles_in_half import angles_in_half as angles_in_half
from precision_lint.facts.numerics.averaging import AVERAGING as AVERAGING
from precision_lint.facts.numerics.averaging import averaged_in_place as averaged_in_place
from precision_lint.facts.numerics.averaging import may_be_average as may_be_average
from precision_lint.facts.numerics.buffers_in_half import (
    positions_of_buffers as positions_of_buffers,
)
from precision_lint.facts.numerics.fills import Fill as Fill
from precision_lint.facts.numerics.fills import fills as fills
from precision_lint.facts.numerics.half_results import SCORES as SCORES
from precision_lint.facts.numerics.half_results import SUMS as SUMS
from precision_lint.facts.numerics.half_results import TOTALS as TOTALS
from precision_lint.facts.numerics.half_results import HalfResult as HalfResult
from precision_lint.facts.numerics.half_results import averaged_copy as averaged_copy
from precision_lint.facts.numerics.half_results import half_loss as half_loss
from precision_lint.facts.numerics.half_results import may_be_averaged_copy as may_be_averaged_copy
from precision_lint.facts.numerics.half_results import (
    may_be_kept_for_backward as may_be_kept_for_backward,
)
from precision_lint.facts.numerics.half_results import may_be_running_total as may_be_running_total
from precision_lint.facts.numerics.half_results import may_be_scores as may_be_scores
from precision_lint.facts.numerics.half_results import (
    may_be_sum_of_squares as may_be_sum_of_squares,
)
from precision_lint.facts.numerics.half_results import running_total as running_total
from precision_lint.facts.numerics.half_results import scores as scores
from precision_lint.facts.numerics.half_results import sum_of_squares as sum_of_squares
from precision_lint.facts.numerics.half_updates import HALF_UPDATES as HALF_UPDATES
from precision_lint.facts.numerics.half_updates import HalfUpdate as HalfUpdate
from precision_lint.facts.numerics.half_updates import keeps_float32 as keeps_float32
from precision_lint.facts.numerics.in_half_regions import (
    calls_in_other_regions as calls_in_other_regions,
)
from precision_lint.facts.numerics.logarithms import LOGARITHMS as LOGARITHMS
from precision_lint.facts.numerics.logarithms import HalfLogarithm as HalfLogarithm
from precision_lint.facts.numerics.logarithms import logarithm as logarithm
from precision_lint.facts.numerics.logarithms import may_be_of_probability as may_be_of_probability
from precision_lint.facts.numerics.losses_in_forward import LOSSES as LOSSES
from precision_lint.facts.numerics.losses_in_forward import losses_in_forward as losses_in_forward
from precision_lint.facts.numerics.positions import Position as Position
from precision_lint.facts.numerics.positions import positions as positions
from precision_lint.facts.numerics.program_errors import program_errors as program_errors
from precision_lint.facts.numerics.program_positions import program_positions as program_positions
from precision_lint.facts.numerics.program_rounding import ProgramRounding as ProgramRounding
from precision_lint.facts.numerics.program_rounding import program_rounding as program_rounding
from precision_lint.facts.numerics.program_rounding import squares_of_program as squares_of_program
from precision_lint.facts.numerics.refused_arrays import refused_arrays as refused_arrays
from precision_lint.facts.numerics.saved_weights import numpy_reads as numpy_reads
from precision_lint.facts.numerics.sharded_inputs import sharded_inputs as sharded_inputs
from precision_lint.facts.numerics.updates_in_program import all_half_updates as all_half_updates
from precision_lint.facts.numerics.uses import holders_of_names as holders_of_names
from precision_lint.facts.numerics.uses import names_of as names_of
from precision_lint.facts.numerics.uses import reads_any as reads_any
from precision_lint.facts.runs.options.never_read import is_declared_in_vain as is_declared_in_vain
from precision_lint.facts.runs.options.unmade_options import unmade_options as unmade_options
from precision_lint.facts.settings.fixed_switches import FixedSwitch as FixedSwitch
from precision_lint.facts.settings.fixed_switches import fixed_switches as fixed_switches
from precision_lint.facts.settings.made_in_code import no_run_sets as no_run_sets
from precision_lint.facts.settings.vocabulary import names_bfloat16 as names_bfloat16
from precision_lint.facts.settings.vocabulary import names_float16 as names_float16
from precision_lint.facts.settings.vocabulary import names_precision as names_precision
from precision_lint.facts.settings.words_as_truth import words_as_truth as words_as_truth
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
from precision_lint.model.dtypes import FLOAT32 as FLOAT32
from precision_lint.model.dtypes import FLOATING as FLOATING
from precision_lint.model.finding import Applicability as Applicability
from precision_lint.model.finding import Confidence as Confidence
from precision_lint.model.finding import Edit as Edit
from precision_lint.model.finding import Finding as Finding
from precision_lint.model.finding import Fix as Fix
from precision_lint.model.finding import Related as Related
from precision_lint.model.finding import Severity as Severity
from precision_lint.model.finding import Span as Span
from precision_lint.model.frozen import frozen as frozen
from precision_lint.model.memo import fact as fact
from precision_lint.model.precision import precision_of as precision_of
from precision_lint.model.regex import regex as regex
from precision_lint.model.rule import Rule as Rule
from precision_lint.source.python.bindings import attribute as attribute
from precision_lint.source.python.bindings import binding as binding
from precision_lint.source.python.bindings import enclosing_class as enclosing_class
from precision_lint.source.python.code import code_of as code_of
from precision_lint.source.python.compatibility import (
    is_for_another_version as is_for_another_version,
)
from precision_lint.source.python.functions import functions_around as functions_around
from precision_lint.source.python.imports import imported_names as imported_names
from precision_lint.source.python.statements import Leaving as Leaving
from precision_lint.source.python.statements import Loop as Loop
from precision_lint.source.python.statements import With as With
from precision_lint.source.python.statements import own_nodes as own_nodes
from precision_lint.source.python.syntax import callee_name as callee_name
from precision_lint.source.python.syntax import dotted as dotted
from precision_lint.source.python.syntax import innermost_name as innermost_name
from precision_lint.source.python.syntax import last_name as last_name
from precision_lint.source.python.syntax import qualified as qualified
from precision_lint.source.python.syntax_tree import Scope as Scope
from precision_lint.source.python.syntax_tree import SyntaxTree as SyntaxTree
from precision_lint.source.python.syntax_tree import syntax_tree as syntax_tree

NAMES: dict[str, str]
