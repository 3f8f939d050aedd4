"""transformers as the reference: loading a checkpoint, making its inputs, running it and naming its results.

The recorder and the engines share this package, so that goldens and engines agree about names. `families/` has a module for each
architecture, and `registry.json` the model types.
"""
