"""Questions, passages and answers.

The index of a checkpoint is `passages.safetensors` (`embeddings` [passages, width]) and `passages.jsonl` (a title and a text for each
row), next to the weights; transformers gets them as a `CustomHFIndex` over a dataset with exact inner products.
"""

import json
import os

import torch
from transformers import GenerationConfig

from reference.errors import CloseCall, NeedsPackage, first_line, user_error
from reference.text_inputs import padded_case

# Passages.
CHOOSES = True
# One of the two classes has a `generate` of its own and says of itself that it has none.
GENERATES = True
NEW_TOKENS = 8
QUESTIONS = (
    ("Who built it?", "What is?"),
    ("The dog's name, or not?", "how old?"),
    ("Which river?", "Whom?"),
)


def prepare(model, directory, attention):
    """Adds the retriever to a loaded model and hidden states to every result, and chooses the attention of both parts if it is named."""
    try:
        import datasets
        import faiss
    except ImportError as missing:
        raise NeedsPackage(first_line(missing), "pip install datasets faiss-cpu") from missing
    from safetensors.torch import load_file
    from transformers.models.rag.retrieval_rag import CustomHFIndex, RagRetriever

    config = model.config
    with user_error(f"the index of `{directory}` does not load"):
        embeddings = load_file(os.path.join(directory, "passages.safetensors"))["embeddings"].float()
        with open(os.path.join(directory, "passages.jsonl"), encoding="utf-8") as file:
            passages = [json.loads(line) for line in file if line.strip()]
        columns = {name: [passage[name] for passage in passages] for name in ("title", "text")}
        dataset = datasets.Dataset.from_dict(columns | {"embeddings": embeddings.numpy()})
        datasets.disable_progress_bars()
        dataset.add_faiss_index("embeddings", metric_type=faiss.METRIC_INNER_PRODUCT)
        tokenizers = [tokenizer(directory, name) for name in ("question_encoder", "generator")]
        model.set_retriever(RagRetriever(config, *tokenizers, index=CustomHFIndex(config.retrieval_vector_size, dataset)))
    for part in (model.question_encoder, model.generator):
        if attention is not None:
            part.set_attn_implementation(attention)
        part.config.output_hidden_states = True


def tokenizer(directory, name):
    """The tokenizer of the question encoder or of the generator."""
    # Not above, as in `text_inputs`.
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(os.path.join(directory, f"{name}_tokenizer"))


def cases(directory, config, random, seed):
    """Two questions, one of them padded; longer random ids without padding; and labels, whose questions have no mask."""
    questions = list(QUESTIONS[seed % len(QUESTIONS)])
    encoded = tokenizer(directory, "question_encoder")(questions, padding="longest", padding_side="right", return_tensors="pt")
    main = {name: encoded[name] for name in ("input_ids", "attention_mask")}
    limit = min(config.question_encoder.max_position_embeddings, 26)
    long = padded_case(config.question_encoder, random, [limit] * 2)
    unmasked = {"input_ids": padded_case(config.question_encoder, random, [9, 6])["input_ids"]}
    found = [with_target(main, config, random, (7, 4)), with_target(long, config, random, (9, 9))]
    labels = targets(config, random, (8, 6))["input_ids"]
    labels[:, 1] = config.generator.bos_token_id
    return [*found, unmasked | {"labels": labels}], {}, {"text": json.dumps(questions, ensure_ascii=False)}


def with_target(case, config, random, lengths):
    """The case with the decoder's inputs."""
    return case | {f"decoder_{name}": value for name, value in targets(config, random, lengths).items()}


def targets(config, random, lengths):
    """Random ids after the decoder's start token, padded on the right, with their mask."""
    target = padded_case(config.generator, random, lengths)
    target["input_ids"][:, 0] = config.generator.decoder_start_token_id
    return target


def trace(result):
    """The hidden states of the question encoder, and of the generator's encoder and decoder."""
    from reference.results import traces

    stacks = {"question.": "question_enc", "encoder.": "generator_enc", "decoder.": "generator_dec"}
    named = {}
    for stack, name in stacks.items():
        named |= traces(stack, result[f"{name}_hidden_states"])
    return named


def generated(model, config, _random, cases):
    """The retrieved passages of every case, greedy tokens of the main case, and the answers of `generate`."""
    tensors = {}
    for index, case in enumerate(cases):
        prefix = f"case.{index}." if index else ""
        tensors |= {f"{prefix}retrieval.{name}": value for name, value in retrieved(model, case).items()}
    refuse_close_calls(model, cases)
    return tensors | answers(model, config, cases[0]) | greedy(model, config, cases[0])


@torch.no_grad()
def retrieved(model, case):
    """The passages of a case and the texts that the generator reads with them."""
    states = model.question_encoder(case["input_ids"], attention_mask=case.get("attention_mask"))[0]
    prefix = getattr(model.generator.config, "prefix", None)
    found = model.retriever(case["input_ids"], states.float().numpy(), prefix=prefix, n_docs=model.config.n_docs, return_tensors="pt")
    names = {"doc_ids": "retrieved_doc_ids", "context_input_ids": "context_input_ids", "context_attention_mask": "context_attention_mask"}
    return {name: found[own] for own, name in names.items()}


def refuse_close_calls(model, cases):
    """The choice of passages is discontinuous: where 16 bits choose others, the noise would be that of another answer."""
    from reference.loading import load

    for dtype in (torch.float16, torch.bfloat16):
        other = load(type(model), model.config.name_or_path, dtype)
        for case in cases:
            one, two = (retrieved(each, case)["retrieved_doc_ids"] for each in (model, other))
            if not torch.equal(one, two):
                raise CloseCall(f"passages are too close to call in {dtype}; try another --seed")


def fresh(config):
    """A generation config without end token and rules."""
    generator = config.generator
    return GenerationConfig(
        do_sample=False,
        max_length=NEW_TOKENS + 1,
        num_beams=1,
        decoder_start_token_id=generator.decoder_start_token_id,
        return_dict_in_generate=True,
        output_logits=True,
        pad_token_id=generator.pad_token_id,
    )


@torch.no_grad()
def greedy(model, config, case):
    """Greedy tokens and their logits: for `RagToken` from all passages together, for `RagSequence` from the generator for each passage."""
    model.generation_config = model.generator.generation_config = fresh(config)
    if model.can_generate():
        result = model.generate(case["input_ids"], attention_mask=case["attention_mask"])
    else:
        found = retrieved(model, case)
        result = model.generator.generate(found["context_input_ids"], attention_mask=found["context_attention_mask"])
    logits = torch.stack(result.logits, dim=1).float()
    top = logits.topk(2, dim=-1).values
    return {
        "tokens.start": result.sequences[:, :1],
        "tokens.greedy": result.sequences[:, 1:],
        "tokens.logits": logits,
        "margin.greedy": top[..., 0] - top[..., 1],
    }


@torch.no_grad()
def answers(model, config, case):
    """The output of `generate` for each question alone with the checkpoint's settings, and the margin of the closest choice."""
    length = NEW_TOKENS + 1
    rows = torch.full((len(case["input_ids"]), NEW_TOKENS), config.generator.pad_token_id)
    margins = []
    for row, (ids, mask) in enumerate(zip(case["input_ids"], case["attention_mask"], strict=True)):
        question = ids[mask == 1][None]
        answer = model.generate(question, attention_mask=torch.ones_like(question), max_length=length)[0, 1:]
        rows[row, : len(answer)] = answer
        margins.append(closest(model, config, question, length))
    return {"tokens.answer": rows, "margin.answer": torch.tensor(margins)}


def closest(model, config, question, length):
    """The smallest margin of a greedy choice, and of the losses of the two best candidates where losses decide."""
    if model.can_generate():
        result = model.generate(question, max_length=length, return_dict_in_generate=True, output_logits=True)
        return smallest_gap(result)
    contexts = retrieved(model, {"input_ids": question})["context_input_ids"]
    result = model.generator.generate(contexts, max_length=length, return_dict_in_generate=True, output_logits=True)
    candidates = torch.unique(result.sequences, dim=0)
    losses = model(question.repeat(len(candidates), 1), labels=candidates, exclude_bos_score=True).loss.sort().values
    gap = float(losses[1] - losses[0]) if len(losses) > 1 else float("inf")
    return min(gap, smallest_gap(result))


def smallest_gap(result):
    """The smallest gap between the two largest logits of any step."""
    top = torch.stack(result.logits, dim=1).topk(2, dim=-1).values
    return float((top[..., 0] - top[..., 1]).min())
