"""Shows that faults in the models and graphs of engines make checks fail."""
