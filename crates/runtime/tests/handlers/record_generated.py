"""The texts that transformers generates from texts and recordings, as references of the handlers.

    PYTHONPATH=python python3 crates/runtime/tests/handlers/record_generated.py > crates/runtime/tests/handlers/generated.json
"""

import json
import os
import pathlib
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import safetensors.torch
import torch
import transformers

from reference.families import rag

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "fixtures"
TEXTS = ["words in it", "It is the other word, so"]
QUESTIONS = ["Is it the other?", "What words, so"]
# The cache of transformers has the layers of the encoder, and a fixture has a deeper decoder.
GREEDY = {"max_new_tokens": 6, "do_sample": False, "num_beams": 1, "use_cache": False}


def load(fixture, kind):
    return kind.from_pretrained(str(FIXTURES / fixture), attn_implementation="eager", dtype="float32").eval()


def texts(fixture):
    model = load(fixture, transformers.AutoModelForSeq2SeqLM)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(FIXTURES / fixture))
    inputs = tokenizer(TEXTS, padding=True, return_tensors="pt", return_token_type_ids=False)
    ids = model.generate(**inputs, **GREEDY)[:, 1:]
    return {"texts": TEXTS, "generated": tokenizer.batch_decode(ids, skip_special_tokens=True)}


def recordings(fixture):
    golden = safetensors.torch.load_file(FIXTURES / fixture / "golden.safetensors")
    return [golden[name].numpy() for name in sorted(golden) if name.startswith("audio.")]


def written(fixture):
    model = load(fixture, transformers.WhisperForConditionalGeneration)
    extractor = transformers.AutoFeatureExtractor.from_pretrained(str(FIXTURES / fixture))
    features = extractor(recordings(fixture), sampling_rate=16000, return_tensors="pt")["input_features"]
    ids = transformers.GenerationMixin.generate(model, input_features=features, **GREEDY)[:, 1:]
    return {"ids": [[int(token) for token in row] for row in ids]}


def read_off(fixture):
    model = load(fixture, transformers.AutoModelForCTC)
    extractor = transformers.AutoFeatureExtractor.from_pretrained(str(FIXTURES / fixture))
    tokenizer = transformers.Wav2Vec2CTCTokenizer.from_pretrained(str(FIXTURES / fixture))
    inputs = extractor(recordings(fixture), sampling_rate=16000, padding=True, return_tensors="pt")
    with torch.no_grad():
        return {"texts": tokenizer.batch_decode(model(**inputs).logits.argmax(-1))}


def answered(fixture):
    """Answers with the passages that they were written from, through the retriever of the recorder."""
    folder = str(FIXTURES / fixture)
    kind = getattr(transformers, transformers.AutoConfig.from_pretrained(folder).architectures[0])
    model = load(fixture, kind)
    rag.prepare(model, folder)
    questions, generator = rag.tokenizer(folder, "question_encoder"), rag.tokenizer(folder, "generator")
    rows = []
    for question in QUESTIONS:
        inputs = questions(question, return_tensors="pt", return_token_type_ids=False)
        with torch.no_grad():
            ids = model.generate(**inputs, max_length=7)[0]
            scores = model(**inputs, decoder_input_ids=ids[None]).doc_scores[0]
        found = rag.retrieved(model, inputs)["retrieved_doc_ids"][0]
        text = generator.decode(ids[1:], skip_special_tokens=True)
        rows.append({"text": text, "passages": found.tolist(), "scores": [float(f"{score:.7g}") for score in scores]})
    return {"questions": QUESTIONS, "answers": rows}


def main():
    expected = {fixture: texts(fixture) for fixture in ("t5", "bart", "marian")}
    expected |= {"whisper": written("whisper"), "wav2vec2": read_off("wav2vec2")}
    expected |= {fixture: answered(fixture) for fixture in ("rag_token", "rag_sequence")}
    json.dump(expected, sys.stdout, sort_keys=True, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
