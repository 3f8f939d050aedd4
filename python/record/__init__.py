"""The recorder of `testgen record`: goldens, recorded answers and the noise of the reference."""
