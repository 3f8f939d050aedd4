"""Answers of the transformers pipelines for the fixtures, which the handlers must give, too: python record.py > expected.json

Needs torch, transformers and Pillow. Scores and vectors are f32 on the CPU, attention is eager.
"""

import json
import os
import pathlib
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import safetensors.torch
import torch
import transformers
from PIL import Image

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "fixtures"
TEXTS = ["words in it", "It is the other word, so"]


def pipe(task, fixture, **options):
    directory = str(FIXTURES / fixture)
    return transformers.pipeline(
        task, model=directory, device="cpu", dtype="float32", model_kwargs={"attn_implementation": "eager"}, **options
    )


def images(fixture):
    golden = safetensors.torch.load_file(FIXTURES / fixture / "golden.safetensors")
    return [Image.fromarray(golden[name].numpy()) for name in sorted(golden) if name.startswith("image.")]


def fill_mask(fixture):
    fill = pipe("fill-mask", fixture, top_k=5)
    text = f"words {fill.tokenizer.mask_token} it"
    return {"text": text, "filled": [[each["token"], each["score"]] for each in fill(text)]}


def labels(answers):
    return [[[each["label"], each["score"]] for each in answer] for answer in answers]


def token_classification(fixture):
    tag = pipe("token-classification", fixture, ignore_labels=[])
    return {
        "texts": TEXTS,
        "tokens": [[[each["entity"], each["score"], each["start"], each["end"]] for each in answer] for answer in tag(TEXTS)],
    }


def text_generation(fixture):
    write = pipe("text-generation", fixture)
    answers = [write(text, max_new_tokens=6, do_sample=False, return_full_text=False)[0] for text in TEXTS]
    return {"prompts": TEXTS, "generated": [answer["generated_text"] for answer in answers]}


def image_classification(fixture):
    classify = pipe("image-classification", fixture)
    return {"labels": labels(classify(images(fixture), top_k=classify.model.config.num_labels))}


def object_detection(fixture):
    """Corners as the pipeline has them before it rounds them to whole pixels."""
    find = pipe("object-detection", fixture)
    answers = []
    for image in images(fixture):
        inputs = find.preprocess(image)
        size = inputs["target_size"]
        with torch.no_grad():
            outputs = find.model(
                **{name: inputs[name] for name in ("pixel_values", "pixel_mask") if fixture == "detr" or name == "pixel_values"}
            )
        found = find.image_processor.post_process_object_detection(outputs, 0.5, size)[0]
        names = find.model.config.id2label
        answers.append(
            sorted(
                (
                    [names[int(label)], float(score), box.tolist()]
                    for label, score, box in zip(found["labels"], found["scores"], found["boxes"], strict=True)
                ),
                key=lambda answer: -answer[1],
            )
        )
    return {"objects": answers}


def image_text_similarity(fixture):
    compare = pipe("zero-shot-image-classification", fixture)
    answers = compare(images(fixture), candidate_labels=TEXTS, hypothesis_template="{}")
    return {"texts": TEXTS, "labels": [[[each["label"], each["score"]] for each in answer] for answer in answers]}


def image_text_to_text(fixture):
    """Without a pipeline, which requires a chat template. The image token is repeated by hand, prompts are padded on the left."""
    directory = str(FIXTURES / fixture)
    model = transformers.LlavaForConditionalGeneration.from_pretrained(directory, attn_implementation="eager")
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory, padding_side="left")
    processor = transformers.AutoImageProcessor.from_pretrained(directory, backend="pil")
    prompts = [f"<image>{text}" for text in TEXTS]
    count = (model.config.vision_config.image_size // model.config.vision_config.patch_size) ** 2
    inputs = tokenizer([prompt.replace("<image>", "<image>" * count) for prompt in prompts], padding=True, return_tensors="pt")
    pixels = processor(images=images(fixture), return_tensors="pt")["pixel_values"]
    answers = model.generate(**inputs, pixel_values=pixels, max_new_tokens=6, do_sample=False)
    end = model.generation_config.eos_token_id
    new = [row[inputs["input_ids"].shape[1] :].tolist() for row in answers]
    return {"prompts": prompts, "ids": [row[: row.index(end) + 1] if end in row else row for row in new]}


def image_denoising(fixture):
    import diffusers
    import torch

    model = diffusers.UNet2DConditionModel.from_pretrained(FIXTURES / fixture)
    scheduler = diffusers.DDIMScheduler.from_config(json.loads((FIXTURES / fixture / "scheduler_config.json").read_text()))
    golden = safetensors.torch.load_file(FIXTURES / fixture / "golden.safetensors")
    scheduler.set_timesteps(3)
    sample = golden["input.sample"]
    with torch.no_grad():
        for step in scheduler.timesteps:
            output = model(sample, step, golden["input.encoder_hidden_states"]).sample
            sample = scheduler.step(output, step, sample).prev_sample
    return {"latents": sample.flatten().tolist()}


def main():
    expected = {
        "bert": {"texts": TEXTS, "tokens": [answer[0] for answer in pipe("feature-extraction", "bert")(TEXTS)]},
        "bert_masked_lm": fill_mask("bert_masked_lm"),
        "clip": image_text_similarity("clip"),
        "siglip": image_text_similarity("siglip"),
        "detr": object_detection("detr"),
        "yolos": object_detection("yolos"),
        "gpt2": text_generation("gpt2"),
        "llava": image_text_to_text("llava"),
        "unet": image_denoising("unet"),
        "llama_classification": {"texts": TEXTS, "labels": labels(pipe("text-classification", "llama_classification")(TEXTS, top_k=None))},
        "roberta_token_classification": token_classification("roberta_token_classification"),
        "vit": image_classification("vit"),
        "vit_base": {"patches": [answer[0] for answer in pipe("image-feature-extraction", "vit_base")(images("vit_base"))]},
    }
    json.dump(expected, sys.stdout, sort_keys=True, default=float)
    print()


if __name__ == "__main__":
    main()
