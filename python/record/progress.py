"""How far a recording is, one line for each part on standard output.

`testgen record` reads the lines. Scripts that import the recorder call no `enable`, so that nothing is printed.
"""

enabled = False


def enable():
    """Prints from now on."""
    global enabled
    enabled = True


def report(step, done=0, of=0):
    """Prints that `done` of `of` parts of a step are complete."""
    if enabled:
        print(f"progress {step} {done} {of}", flush=True)


def counted(step, values):
    """The values of a list, each reported before it is used."""
    for index, value in enumerate(values):
        report(step, index, len(values))
        yield value
