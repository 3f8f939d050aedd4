"""Facts about the Python of a user and its packages, which `testgen doctor` reads."""
