"""Everything of the engine that rules use. They import it from here and from nowhere else.

    from precision_lint.rule_api import Call, Confidence, Finding, PythonFile, Rule, Severity

A run loads only the rules that a file triggers, so a name is imported from its own module when a
rule asks for it. `rule_api.pyi` shows type checkers and editors the same names; it is written by
`scripts/generate.py`.
"""

from __future__ import annotations

NAMES = {
    # Every rule
    "precision_lint.model.rule": "Rule",
    "precision_lint.model.finding": (
        "Applicability Confidence Edit Finding Fix Related Severity Span"
    ),
    "precision_lint.model.precision": "precision_of",
    # What the hooks are called with
    "precision_lint.facts.context": "ConfigFile PythonFile",
    "precision_lint.model.memo": "fact",
    "precision_lint.model.frozen": "frozen",
    "precision_lint.model.regex": "regex",
    "precision_lint.facts.dtypes.operators.agreement": "Disagreement may_disagree",
    "precision_lint.facts.dtypes.operators.disagreements": "disagreement_findings",
    "precision_lint.facts.dtypes.operators.ambient": "may_run_under_autocast",
    "precision_lint.facts.dtypes.domain.calls": "Argument Call Region Rejection",
    "precision_lint.facts.amp.scaling.accelerated_clips": "AcceleratedClip accelerated_clips",
    "precision_lint.facts.amp.training_step.protocol": "TrainingStep",
    "precision_lint.facts.triton.kernels": "Kernel",
    # Python's syntax
    "precision_lint.source.python.bindings": "attribute binding enclosing_class",
    "precision_lint.source.python.code": "code_of",
    "precision_lint.source.python.compatibility": "is_for_another_version",
    "precision_lint.source.python.functions": "functions_around",
    "precision_lint.source.python.imports": "imported_names",
    "precision_lint.source.python.statements": "Leaving Loop With own_nodes",
    "precision_lint.source.python.syntax": "callee_name dotted innermost_name last_name qualified",
    "precision_lint.source.python.syntax_tree": "Scope SyntaxTree syntax_tree",
    # Dtypes
    "precision_lint.model.dtypes": "ALIASES BFLOAT16 DTYPES FLOAT16 FLOAT32 FLOATING",
    "precision_lint.facts.dtypes.operators": "sinks",
    "precision_lint.facts.dtypes.batches": "BlanketCast blanket_casts",
    "precision_lint.facts.dtypes.operators.collectives": "COLLECTIVES may_be_refused refused",
    "precision_lint.facts.dtypes.syntax.conditions": "guard_excludes_bfloat16",
    "precision_lint.facts.dtypes.domain.values": (
        "Instance Model ModelOutput Sequence Symbol Tensor Value"
    ),
    "precision_lint.facts.amp.regions.half_regions": "may_train_under_autocast",
    "precision_lint.facts.dtypes.cast_run": "meetings_in_cast_models",
    "precision_lint.facts.dtypes.half_run": "meetings_in_half",
    "precision_lint.facts.dtypes.libraries.copies": "COPIES",
    "precision_lint.facts.dtypes.operators.lacking": "LACKING_CALLS Lacking lacking",
    "precision_lint.facts.dtypes.operators.module_inputs": "LAYERS REJECTED",
    "precision_lint.facts.numerics.refused_arrays": "refused_arrays",
    "precision_lint.facts.numerics.saved_weights": "numpy_reads",
    "precision_lint.facts.dtypes.operators.rejections": (
        "callee_text is_shared_module may_reject origins rejections"
    ),
    "precision_lint.facts.dtypes.syntax.item_writes": "may_be_indexed_write",
    "precision_lint.facts.dtypes.syntax.deciding": "decides_dtypes_around",
    "precision_lint.facts.dtypes.syntax.named": "names_unusual_dtypes",
    "precision_lint.facts.dtypes.operators.operands": (
        "is_expected_to_fail is_unreduced may_fail_on_purpose quoted text_of"
    ),
    "precision_lint.facts.dtypes.interpreter.test_runs": "is_of_run",
    "precision_lint.facts.dtypes.unused_casts": (
        "UNUSED_CASTS UnusedCast may_be_unused_cast unused_cast"
    ),
    "precision_lint.facts.dtypes.domain.witnesses": "witnesses",
    # Mixed precision
    "precision_lint.facts.amp.regions.cached_copies": (
        "follows is_on keeps_copies optimized position without_copies"
    ),
    "precision_lint.facts.amp.regions.autocast": (
        "WITHOUT_GRADIENTS AutocastCall RegionNode autocast_call autocasts multiplied "
        "records_no_gradients "
        "region_of regions_around"
    ),
    "precision_lint.facts.amp.scaling.bfloat16_scaling": (
        "SCALING_CALLS Scaling ScalingForm scaling_at scaling_in"
    ),
    "precision_lint.facts.amp.deprecated_api": (
        "DEPRECATED_FUNCTIONS DeprecatedImport DeprecatedUse deprecated_amp is_in_every_torch "
        "is_interchangeable turns_cache_off"
    ),
    "precision_lint.facts.amp.regions.chosen": "options_for",
    "precision_lint.facts.amp.regions.devices": "Device DeviceKind device_of",
    "precision_lint.facts.amp.regions.dropped": "dropped",
    "precision_lint.facts.amp.regions.gradients_off": "gradients_are_off",
    "precision_lint.facts.amp.regions.entered": "entered",
    "precision_lint.facts.amp.regions.entered_elsewhere": "EnteredElsewhere entered_elsewhere",
    "precision_lint.facts.amp.scaling.idle_scalers": "is_tested",
    "precision_lint.facts.amp.training_step.events": "Event EventKind scalers_made",
    "precision_lint.facts.amp.float16_weights": (
        "FLOAT16_CALLS Float16Weights float16_adapters float16_models may_train_float16"
    ),
    "precision_lint.facts.amp.load_dtypes": "LOADING LoadDtype load_dtypes",
    "precision_lint.facts.amp.missing_names": "MissingName missing_names",
    "precision_lint.facts.amp.regions.cuda_devices": "may_be_cuda",
    "precision_lint.facts.amp.regions.other_devices": "fixed_devices",
    "precision_lint.facts.amp.bits_arguments": "BitsArgument bits_arguments",
    "precision_lint.facts.amp.quantized_loads": "QuantizedLoad quantized_load",
    "precision_lint.facts.amp.training_step.scaler_order": "Disorder DisorderForm disorders",
    "precision_lint.facts.amp.scaling.scaled_penalties": "scaled_penalties",
    "precision_lint.facts.amp.scaling.scalers": "conditions_around makes_grad_scaler",
    "precision_lint.facts.amp.shared_pipelines": "PipelineCast casts_pipelines shared_pipelines",
    "precision_lint.facts.amp.signatures": "SIGNATURES Mismatch WrongCall wrong_calls",
    "precision_lint.facts.amp.training_step.states": "Gradients State",
    "precision_lint.facts.amp.regions.switches": "Ignoring ignoring",
    "precision_lint.facts.amp.tf32": "RaisingRead Written raising_reads writes",
    "precision_lint.facts.amp.torch_version": "oldest_torch",
    "precision_lint.facts.amp.trainer_runs": "TrainerRun launched_runs",
    "precision_lint.facts.amp.scaling.resuming": "is_refused resumption",
    "precision_lint.facts.amp.scaling.handed_scalers": "is_kept",
    "precision_lint.facts.amp.scaling.saving_calls": "scalers_of_callers",
    "precision_lint.facts.amp.scaling.unsaved_scalers": "UnsavedScaler unsaved_scalers",
    "precision_lint.facts.amp.scaling.unscaled_accelerators": "unscaled_accelerators",
    "precision_lint.facts.amp.scaling.unscalers": "unscaler",
    # Names of dtypes
    "precision_lint.facts.names.compared": "NeverEqual is_never_true never_equal",
    "precision_lint.facts.names.declared": "Text",
    "precision_lint.facts.names.devices_compared": "NeverCuda devices_compared",
    "precision_lint.facts.names.keywords": "Keywords keywords_of",
    "precision_lint.facts.names.mapping": "Entry WrongEntry wrong_entries",
    "precision_lint.facts.names.texts": "texts",
    "precision_lint.facts.settings.fixed_switches": "FixedSwitch fixed_switches",
    "precision_lint.facts.runs.options.never_read": "is_declared_in_vain",
    "precision_lint.facts.runs.options.unmade_options": "unmade_options",
    "precision_lint.facts.settings.made_in_code": "no_run_sets",
    "precision_lint.facts.settings.vocabulary": "names_bfloat16 names_float16 names_precision",
    "precision_lint.facts.settings.words_as_truth": "words_as_truth",
    # Range and rounding
    "precision_lint.facts.numerics.angles_in_half": "angles_in_half",
    "precision_lint.facts.numerics.averaging": "AVERAGING averaged_in_place may_be_average",
    "precision_lint.facts.numerics.fills": "Fill fills",
    "precision_lint.facts.numerics.losses_in_forward": "LOSSES losses_in_forward",
    "precision_lint.facts.numerics.half_results": (
        "SCORES SUMS TOTALS HalfResult averaged_copy half_loss may_be_averaged_copy "
        "may_be_kept_for_backward may_be_running_total may_be_scores may_be_sum_of_squares "
        "running_total scores sum_of_squares"
    ),
    "precision_lint.facts.amp.sharded_float16": "float16_shards",
    "precision_lint.facts.amp.launch_backends": (
        "accelerator_may_run_in_backend may_run_in_backend"
    ),
    "precision_lint.facts.numerics.half_updates": ("HALF_UPDATES HalfUpdate keeps_float32"),
    "precision_lint.facts.numerics.updates_in_program": "all_half_updates",
    "precision_lint.facts.numerics.buffers_in_half": "positions_of_buffers",
    "precision_lint.facts.numerics.in_half_regions": "calls_in_other_regions",
    "precision_lint.facts.numerics.logarithms": (
        "LOGARITHMS HalfLogarithm logarithm may_be_of_probability"
    ),
    "precision_lint.facts.numerics.positions": "Position positions",
    "precision_lint.facts.numerics.sharded_inputs": "sharded_inputs",
    "precision_lint.facts.numerics.program_errors": "program_errors",
    "precision_lint.facts.numerics.program_positions": "program_positions",
    "precision_lint.facts.numerics.program_rounding": (
        "ProgramRounding program_rounding squares_of_program"
    ),
    "precision_lint.facts.numerics.uses": "holders_of_names names_of reads_any",
    # Hardware
    "precision_lint.facts.hardware.answers": "Answer answers asks_for_a_gpu",
    "precision_lint.facts.hardware.gpus": "gpu",
    # Configurations
    "precision_lint.facts.frameworks.triggers": "CONFIG_TRIGGERS",
    "precision_lint.facts.frameworks.verdicts": "verdicts",
    # Triton kernels
    "precision_lint.facts.triton.dtypes": "HALF",
    "precision_lint.facts.triton.findings": "note_findings rejection_findings",
    "precision_lint.facts.triton.notes": "Note",
    "precision_lint.facts.triton.notes.remedies": "Pin",
    "precision_lint.facts.triton.rejections": "ReportedError",
    "precision_lint.facts.triton.remedies": "Remedy",
}
"""The names by the module that defines each."""

_HOMES = {name: home for home, names in NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(__import__(_HOMES[name], fromlist=[name]), name)
    globals()[name] = value
    return value
