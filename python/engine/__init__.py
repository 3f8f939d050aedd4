"""The engines `torch` and `onnxruntime`, each a process that testgen starts."""
