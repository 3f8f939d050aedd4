"""The lines of progress that `testgen record` reads."""

from record import progress


def test_nothing_is_printed_before_it_is_enabled(capsys, monkeypatch):
    monkeypatch.setattr(progress, "enabled", False)
    progress.report("noise", 1, 24)
    assert capsys.readouterr().out == ""
    progress.enable()
    assert list(progress.counted("config", ["a", "b"])) == ["a", "b"]
    progress.report("inputs")
    assert capsys.readouterr().out.splitlines() == ["progress config 0 2", "progress config 1 2", "progress inputs 0 0"]
