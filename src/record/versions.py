"""Which transformers records which model: part of the recorder `goldens.py`.

The present one, but for models that it no longer has: those say themselves which is the last one that has them.
"""

import transformers
from families import MODULES

PRESENT = 5
IS_OLD = int(transformers.__version__.split(".")[0]) < PRESENT
# transformers 4 hands options that it does not know to the model, which refuses them.
LOAD_OPTIONS = {} if IS_OLD else {"experts_implementation": "eager"}


def problem(name):
    """Why this transformers cannot record a model type, or a class by its name, and the command that mends it; or None."""
    found = f"and this is {transformers.__version__}"
    gone = next((family for family in MODULES if hasattr(family, "TRANSFORMERS") and name.lower().startswith(family.MODEL_TYPES)), None)
    if gone is None:
        needed = f"`{name}` is recorded with transformers {PRESENT}, {found}"
        return (needed, "pip install --upgrade transformers") if IS_OLD else None
    if transformers.__version__.startswith(f"{gone.TRANSFORMERS}."):
        return None
    return f"`{name}` is recorded with transformers {gone.TRANSFORMERS}, the last that has it, {found}", gone.INSTALL
