//! The fields of `PreTrainedConfig` that no forward pass in evaluation mode uses.

/// Whether `field` has no influence on the numbers, for any model type.
pub(crate) fn is_inert(field: &str) -> bool {
    // Dropout is off in evaluation mode, whatever part of a model it is for.
    FIELDS.contains(&field) || field.contains("dropout") || field.ends_with("_pdrop")
}

const FIELDS: &[&str] = &[
    // What the file is about.
    "_name_or_path",
    "architectures",
    "auto_map",
    "dtype",
    "model_type",
    "name_or_path",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    // Training.
    "gradient_checkpointing",
    "initializer_factor",
    "initializer_range",
    "label_smoothing",
    "layerdrop",
    "problem_type",
    "router_aux_loss_coef",
    // What the call returns and how it is computed, not what is computed.
    "_attn_implementation",
    "_attn_implementation_autoset",
    "attn_implementation",
    "chunk_size_feed_forward",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "return_dict",
    "return_dict_in_generate",
    "tf_legacy_loss",
    "use_bfloat16",
    "use_cache",
    // Labels and tasks; a head's width is checked against its tensor.
    "finetuning_task",
    "id2label",
    "label2id",
    "num_labels",
    "task_specific_params",
    // Tokens and generation.
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "pad_token_id",
    "prefix",
    "remove_invalid_values",
    "repetition_penalty",
    "sep_token_id",
    "suppress_tokens",
    "temperature",
    "tokenizer_class",
    "top_k",
    "top_p",
    "typical_p",
];
