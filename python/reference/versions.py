"""The version of transformers that records a model.

It is the present one, except for models that it no longer has: their family names the last version that has them.
"""

import transformers

from reference.families import FAMILIES
from reference.registry import ENTRIES, type_of_class

PRESENT = 5
IS_OLD = int(transformers.__version__.split(".")[0]) < PRESENT
# transformers 4 passes unknown options to the model, which rejects them.
LOAD_OPTIONS = {} if IS_OLD else {"experts_implementation": "eager"}


def problem(name):
    """Why the installed transformers cannot record a model type, or a class, and the command that installs the right one; or None."""
    found = f"and this is {transformers.__version__}"
    gone = FAMILIES.get(name if name in ENTRIES else type_of_class(name))
    if not hasattr(gone, "TRANSFORMERS"):
        needed = f"`{name}` is recorded with transformers {PRESENT}, {found}"
        return (needed, "pip install --upgrade transformers") if IS_OLD else None
    if transformers.__version__.startswith(f"{gone.TRANSFORMERS}."):
        return None
    return f"`{name}` is recorded with transformers {gone.TRANSFORMERS}, the last that has it, {found}", gone.INSTALL
