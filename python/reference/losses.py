"""Packages that only the losses of models need, and no loss is computed here."""

import contextlib

from transformers.utils.import_utils import BACKENDS_MAPPING


@contextlib.contextmanager
def without_losses():
    """Makes models whose losses need scipy, such as `MaskFormerForInstanceSegmentation`, where it is not installed."""
    found = BACKENDS_MAPPING["scipy"]
    BACKENDS_MAPPING["scipy"] = (lambda: True, "")
    try:
        yield
    finally:
        BACKENDS_MAPPING["scipy"] = found
