"""The digest of a tokenizer's vocabulary.

Recorded texts use a small part of a vocabulary. The digest covers the rest, so that `preprocess_golden` fails where two entries are
exchanged that no recorded text contains. `crates/processing/src/tokenizer/digest.rs` computes the same.
"""

import hashlib
import json
import struct


def digest_of(tokenizer):
    """SHA-256, in hexadecimal, of every token with its id, of the merges in order and of the scores of pieces."""
    # Texts are tokenized by the first of the two tokenizers of retrieval-augmented generation.
    tokenizer = getattr(tokenizer, "question_encoder", tokenizer)
    state = hashlib.sha256()
    tokens(state, b"token", tokenizer.get_vocab())
    # Marian's tokenizer has no backend, so neither merges nor scores, and may have a second vocabulary.
    tokens(state, b"target", getattr(tokenizer, "target_encoder", {}))
    backend = getattr(tokenizer, "_tokenizer", None)
    model = json.loads(backend.to_str())["model"] if backend is not None else {}
    for merge in model.get("merges", ()):
        update(state, b"merge", *(part.encode() for part in (merge.split(" ") if isinstance(merge, str) else merge)))
    pieces = model["vocab"] if isinstance(model.get("vocab"), list) else ()
    for piece, score in pieces:
        # In 32 bits: parsers of JSON differ in the last bit of 64.
        update(state, b"score", piece.encode(), struct.pack("<f", score))
    return state.hexdigest()


def tokens(state, kind, vocabulary):
    """Adds every token with its id, by id."""
    for token, number in sorted(vocabulary.items(), key=lambda entry: (entry[1], entry[0].encode())):
        update(state, kind, str(number).encode(), token.encode())


def update(state, *fields):
    """Adds fields, each with its length, so that no two lists of fields are the same bytes."""
    for field in fields:
        state.update(struct.pack("<Q", len(field)) + field)
