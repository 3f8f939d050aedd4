"""The exporter of `testgen export`: checkpoints as ONNX graphs for the engine `onnxruntime`."""
