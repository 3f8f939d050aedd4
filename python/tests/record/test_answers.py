"""The shape of recorded answers: tasks of classes, margins, numbers, and the file."""

import json
from types import SimpleNamespace

import pytest

SIZES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8, "vocab_size": 9}

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import BertConfig, ImageClassificationPipeline, TextClassificationPipeline  # noqa: E402
from transformers.utils import ModelOutput  # noqa: E402

from record import answers, plain_texts  # noqa: E402
from record.answer_generation import margins  # noqa: E402
from record.answer_subject import Answered, NotServed, Subject, exact, joined, vector  # noqa: E402
from record.answer_tasks import ANSWERS, names_of  # noqa: E402
from record.answer_text import span_scores, text_classification, token_scores, with_mask  # noqa: E402
from record.expert_margin import margin  # noqa: E402
from record.label_scores import label_scores  # noqa: E402
from reference.registry import ENTRIES  # noqa: E402


def test_every_class_of_the_registry_has_tasks_that_can_be_recorded():
    without = {name for line in ENTRIES.values() if line.definition for name in line.classes if not names_of(name, line.architecture)}
    assert without == {"BertForPreTraining", "BertForNextSentencePrediction", "AlbertForPreTraining"}
    assert {task for line in ENTRIES.values() for name in line.classes for task in names_of(name, line.architecture)} == set(ANSWERS)


def test_the_task_of_a_class_may_depend_on_its_architecture():
    assert names_of("WhisperForConditionalGeneration", "speech") == ["speech_recognition"]
    assert names_of("BartForConditionalGeneration", "encoder_decoder") == ["text2text_generation"]
    assert names_of("ElectraForPreTraining", "encoder_only") == ["token_classification"]
    assert names_of("BertModel", "encoder_only") == ["text_embedding"]


def test_margins_are_relative_to_the_largest_logit():
    gaps = torch.tensor([0.5, 0.0, float("inf")])
    assert margins(gaps, 4.0) == [0.125, 0.0, 1.0]


def test_numbers_are_read_back_as_the_same_float32():
    value = torch.tensor([0.1, 1 / 3])
    assert exact(value)[0] == 0.1
    assert torch.equal(torch.tensor(exact(value)), value)
    assert vector(torch.zeros(1, 2)) == {"shape": [1, 2], "values": [0.0, 0.0]}


def test_the_numbers_of_all_calls_are_one_tensor():
    parts = [{"scores": torch.ones(2, 2)}, {"scores": torch.zeros(1)}]
    assert joined(parts)["scores"].tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_spans_are_ordered_and_short():
    logits = torch.zeros(1, 20)
    scores = span_scores({"start_logits": logits, "end_logits": logits}, list(range(20)))
    assert scores[3, 2] == 0 and scores[0, 15] == 0
    assert scores[0, 14] == pytest.approx(1 / 400)


def test_a_single_logit_is_that_of_the_second_label():
    assert token_scores(torch.tensor([0.0])).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("labels", [1, 3])
@pytest.mark.parametrize("problem_type", ["regression", "multi_label_classification", None])
def test_labels_have_the_scores_of_the_pipelines(tmp_path, problem_type, labels):
    logits = torch.tensor([[2.0, -1.0, 0.5][:labels]])
    config = BertConfig(**SIZES, num_labels=labels, problem_type=problem_type)
    ours = label_scores(config, logits)[0].tolist()
    for pipeline in (TextClassificationPipeline, ImageClassificationPipeline):
        loaded = pipeline.__new__(pipeline)
        loaded.model = SimpleNamespace(config=config)
        found = loaded.postprocess(ModelOutput(logits=logits), top_k=labels, **({"_legacy": False} if "Text" in pipeline.__name__ else {}))
        scores = {each["label"]: each["score"] for each in found}
        assert [scores[config.id2label[index]] for index in range(labels)] == pytest.approx(ours), pipeline.__name__


def test_the_noise_of_labels_is_that_of_their_scores(monkeypatch):
    """The pipeline computes the answer, and the runs its noise."""
    logits = torch.tensor([[2.0, -1.0, 0.5]])
    for problem_type in ("regression", "multi_label_classification", None):
        subject = mixture(["output.logits"])
        subject.metadata = {"text": '["one"]'}
        subject.config = BertConfig(**SIZES, num_labels=3, problem_type=problem_type)
        monkeypatch.setattr("record.answer_text.encoded", lambda *_: {})
        monkeypatch.setattr("record.answer_text.pipe", lambda *_, **__: lambda texts: [[] for _ in texts])
        monkeypatch.setattr("record.answer_subject.run", lambda *_, **__: {"logits": logits})
        [numbers] = text_classification(subject).runs.of(None)
        assert torch.equal(numbers["scores"], label_scores(subject.config, logits).flatten())


def test_the_last_word_is_masked():
    assert with_mask("a b c", "[MASK]") == "a b [MASK]"
    assert with_mask("word", "[MASK]") == "[MASK]"


def test_a_task_without_its_processor_is_reported_and_the_others_are_written(tmp_path, monkeypatch):
    noise = {"f32": {"scores": [1e-7, 1e-7]}, "reference": "float64"}
    answered = Answered({"texts": ["é"]}, {"labels": []}, "APipeline", library="a library", noise=noise)

    def refuse(_subject):
        raise NotServed("there is no tokenizer")

    monkeypatch.setattr(answers, "Subject", lambda directory, golden=None: directory)
    monkeypatch.setattr(answers, "tasks_of", lambda _: {"one": lambda _: answered, "other": refuse})
    path, missing = answers.record(str(tmp_path))
    assert missing == {"other": "there is no tokenizer"}
    with open(path, encoding="utf-8") as file:
        entry = json.load(file)["one"]
    assert entry == {"request": {"texts": ["é"]}, "answer": {"labels": []}, "noise": noise, "source": "APipeline of a library"}
    monkeypatch.setattr(answers, "tasks_of", lambda _: {"other": refuse})
    assert answers.record(str(tmp_path))[0] is None
    assert not (tmp_path / "answers.json").exists()


def mixture(names=("output.logits", "routing.0")):
    """A subject whose golden has these tensors."""
    subject = Subject.__new__(Subject)
    subject.golden, subject.metadata = dict.fromkeys(names), {}
    subject.directory, subject.config, subject.model_class = "", SimpleNamespace(model_type="olmoe"), None
    subject.model = None
    return subject


def test_weights_of_a_mixture_are_moved_in_float32_only(monkeypatch):
    asked = []
    monkeypatch.setattr(answers, "measured", lambda *arguments: asked.append(arguments[-1]))
    answered = Answered({}, {}, "", runs=SimpleNamespace(of=lambda _: []))
    for names in (("output.logits", "routing.0"), ("output.logits",)):
        answers.recorded(mixture(names), answered, 3)
    assert asked == [True, False]


def test_texts_of_a_mixture_have_no_close_choice_of_experts(monkeypatch):
    monkeypatch.setattr(plain_texts, "load", lambda *_: None)
    margins = {"I saw.": 9.0, "They are here.": 2.4, "We saw it there.": 2.5}
    monkeypatch.setattr(plain_texts, "margin_of", lambda _subject, _rounded, text: margins.get(text, 0.0))
    assert mixture().texts == ["I saw.", "We saw it there."]
    del margins["I saw."]
    assert mixture().texts == plain_texts.PLAIN_TEXTS[:2], "none of them is settled"
    assert mixture(["output.logits"]).texts == plain_texts.PLAIN_TEXTS[:2]


def test_the_texts_of_the_golden_are_kept():
    subject = mixture()
    subject.metadata = {"text": '["one", "two"]'}
    assert subject.texts == ["one", "two"]


def test_a_margin_is_the_gap_in_units_of_the_change():
    exact = torch.tensor([[3.0, 2.0, 0.5, -1.0], [3.0, 1.0, 0.75, 0.0]])
    changed = exact + torch.tensor([0.1, -0.1, 0.1, -0.1])
    assert margin(exact, changed, 1) == pytest.approx(10)
    assert margin(exact, changed, 2) == pytest.approx(2.5)
    assert margin(exact, changed, 4) == float("inf"), "all experts are chosen"
    # A constant that all experts share decides nothing.
    assert margin(exact, changed + 7, 2) == pytest.approx(2.5, rel=1e-4)
