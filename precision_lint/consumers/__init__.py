"""Who reads a configuration file, and what it makes of the settings.

A consumer is a module with a `NAME` and `readings(file)`, which decides from the keys whether it
reads the file, and yields one `Reading` per configuration. A file that no consumer claims has no
settings, however its keys are called. To add a consumer, write its module and list it here.
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.consumers import hf_trainer, simpletuner
from precision_lint.consumers.reading import Reading
from precision_lint.source.config import ConfigFile

CONSUMERS = (hf_trainer, simpletuner)


def readings(file: ConfigFile, *names: str) -> Iterator[Reading]:
    """The configurations in a file, for all consumers or for those with the given names."""
    for consumer in CONSUMERS:
        if not names or consumer.NAME in names:
            yield from consumer.readings(file)
