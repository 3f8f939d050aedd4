//! Relations between fields that several types check.

/// Whether `whole` is a multiple of `part`; the message names both fields.
pub(crate) fn divides(
    whole_name: &str,
    whole: usize,
    part_name: &str,
    part: usize,
) -> Result<(), String> {
    // Zero is a multiple of zero, and callers divide by `part`.
    if part > 0 && whole.is_multiple_of(part) {
        Ok(())
    } else {
        Err(format!(
            "`{whole_name}` {whole} is not a multiple of `{part_name}` {part}"
        ))
    }
}

/// Whether `hidden_size` is divided equally among `num_attention_heads`.
pub(crate) fn divides_into_heads(hidden_size: usize, heads: usize) -> Result<(), String> {
    divides("hidden_size", hidden_size, "num_attention_heads", heads)
}

/// Whether `position_embedding_type` is the one kind that transformers 5 has for BERT and its
/// relatives.
pub(crate) fn absolute_positions(kind: &str) -> Result<(), String> {
    match kind {
        "absolute" => Ok(()),
        other => Err(format!(
            "`position_embedding_type` {other:?} is not supported, only \"absolute\""
        )),
    }
}

/// Whether a table of that many positions, which no tensor has, can be computed.
pub(crate) fn computed_positions(count: usize) -> Result<(), String> {
    const LARGEST: usize = 1 << 16;
    if count <= LARGEST {
        return Ok(());
    }
    Err(format!(
        "`max_position_embeddings` is {count}; positions are computed for at most {LARGEST}"
    ))
}
