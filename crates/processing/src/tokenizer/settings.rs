//! The settings next to `tokenizer.json`: special tokens, padding sides, limits.

use super::{
    class::{TokenizerClass, class_name, default_padding_side, has_token_types},
    side::PaddingSide,
};
use crate::{config_file::ConfigFile, error::PreprocessError};
use serde_json::Value;
use std::path::Path;
use tokenizers::AddedToken;

/// The roles that a token can have, by their fields.
const ROLES: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];
/// A `model_max_length` above this means that there is no limit.
// transformers writes 10^30.
const LARGEST_LENGTH: f64 = 1e9;

/// `tokenizer_config.json`, `special_tokens_map.json` and what `config.json` says about token
/// types.
#[derive(Debug)]
pub(super) struct TokenizerSettings {
    pub(super) class: TokenizerClass,
    pub(super) padding_side: PaddingSide,
    pub(super) truncation_side: PaddingSide,
    pub(super) max_length: Option<usize>,
    pub(super) clean_up_spaces: bool,
    pub(super) split_special_tokens: bool,
    pub(super) token_types: bool,
    /// `add_bos_token` and `add_eos_token`, where at least one is given and no `tokenizer.json`
    /// decides.
    pub(super) ends: Option<(bool, bool)>,
    /// For Llama's tokenizer: a space before text after a special token, too.
    pub(super) legacy: bool,
    /// Of `BertNormalizer`, where given.
    pub(super) lowercase: Option<bool>,
    pub(super) strip_accents: Option<bool>,
    pub(super) split_chinese: Option<bool>,
    pub(super) prefix_space: Option<bool>,
    /// Of ALBERT's tokenizer.
    pub(super) keep_accents: bool,
    /// Of DeBERTa's tokenizer.
    pub(super) split_by_punct: bool,
    roles: Vec<(&'static str, AddedToken)>,
    /// Special tokens without a role, then tokens by their ids.
    pub(super) further: Vec<AddedToken>,
}

impl TokenizerSettings {
    pub(super) fn read(directory: &Path, model: &ConfigFile) -> Result<Self, PreprocessError> {
        let file = ConfigFile::read_or_empty(directory, "tokenizer_config.json")?;
        let ends = (file.flag("add_bos_token")?, file.flag("add_eos_token")?);
        let name = class_name(&file, model)?;
        let class = TokenizerClass::from_name(name);
        // `PreTrainedTokenizerBase._from_pretrained` drops both fields
        // beside a `tokenizer.json`, whose template has them already.
        let given =
            (ends.0.is_some() || ends.1.is_some()) && !directory.join("tokenizer.json").is_file();
        Ok(Self {
            roles: roles(directory, &file, class)?,
            further: further(directory, &file)?,
            class,
            legacy: file.flag("legacy")?.unwrap_or(false),
            padding_side: side(&file, "padding_side", default_padding_side(name))?,
            truncation_side: side(&file, "truncation_side", PaddingSide::Right)?,
            max_length: max_length(&file)?,
            clean_up_spaces: file.flag("clean_up_tokenization_spaces")?.unwrap_or(false),
            split_special_tokens: file.flag("split_special_tokens")?.unwrap_or(false),
            token_types: token_types(&file, model, name)?,
            ends: given.then(|| (ends.0.unwrap_or(false), ends.1.unwrap_or(false))),
            lowercase: file.flag("do_lower_case")?,
            strip_accents: file.flag("strip_accents")?,
            split_chinese: file.flag("tokenize_chinese_chars")?,
            prefix_space: file.flag("add_prefix_space")?,
            keep_accents: file.flag("keep_accents")?.unwrap_or(false),
            split_by_punct: file.flag("split_by_punct")?.unwrap_or(false),
        })
    }

    /// The token of a role, for instance `mask_token`.
    pub(super) fn special(&self, role: &str) -> Option<&str> {
        self.roles
            .iter()
            .find(|(name, _)| *name == role)
            .map(|(_, token)| token.content.as_str())
    }

    /// The token that pads rows: pad, else end, else unknown.
    pub(super) fn pad_token(&self) -> Option<&str> {
        // Checkpoints without a token for padding customarily pad with one of the others.
        ["pad_token", "eos_token", "unk_token"]
            .iter()
            .find_map(|role| self.special(role))
    }

    /// Every token that must be known to the tokenizer as a whole.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &AddedToken> {
        self.further
            .iter()
            .chain(self.roles.iter().map(|(_, token)| token))
    }
}

fn side(
    file: &ConfigFile,
    name: &str,
    default: PaddingSide,
) -> Result<PaddingSide, PreprocessError> {
    match file.text(name)? {
        None => Ok(default),
        Some("right") => Ok(PaddingSide::Right),
        Some("left") => Ok(PaddingSide::Left),
        Some(other) => Err(file.wrong(name, &format!("is `{other}`"), "use `left` or `right`")),
    }
}

fn max_length(file: &ConfigFile) -> Result<Option<usize>, PreprocessError> {
    let length = file.number("model_max_length")?;
    // Read as a float, because 10^30 does not fit an integer.
    Ok(length
        .filter(|length| (1.0..LARGEST_LENGTH).contains(length))
        .map(|length| length as usize))
}

/// `model_input_names` decides if it is given, else the class.
fn token_types(
    file: &ConfigFile,
    model: &ConfigFile,
    class_name: &str,
) -> Result<bool, PreprocessError> {
    // A model with fewer than two token types reads none.
    let types = model.count("type_vocab_size")?.unwrap_or(0);
    let named = file.get("model_input_names").and_then(Value::as_array);
    let returned = named.map_or_else(
        || has_token_types(class_name),
        |names| names.iter().any(|name| name == "token_type_ids"),
    );
    Ok(types >= 2 && returned)
}

/// The named special tokens.
fn roles(
    directory: &Path,
    file: &ConfigFile,
    class: TokenizerClass,
) -> Result<Vec<(&'static str, AddedToken)>, PreprocessError> {
    // Older checkpoints keep them in a separate file, which then decides.
    let older = ConfigFile::read_or_empty(directory, "special_tokens_map.json")?;
    // `_from_pretrained` reads the older file only without `added_tokens_decoder`, and then prefers
    // it.
    let decided = file.get("added_tokens_decoder").is_some();
    let mut roles = Vec::new();
    for role in ROLES {
        let (first, second) = if decided {
            (file, &older)
        } else {
            (&older, file)
        };
        let source = if first.get(role).is_some() {
            first
        } else {
            second
        };
        if let Some(value) = source.get(role) {
            roles.push((role, token(source, role, value, true)?));
        }
    }
    for (role, token) in class_roles(class) {
        if !roles.iter().any(|(name, _)| name == role) {
            roles.push((role, AddedToken::from(*token, true)));
        }
    }
    Ok(roles)
}

/// The tokens that a class of transformers 5 has where nothing is said.
fn class_roles(class: TokenizerClass) -> &'static [(&'static str, &'static str)] {
    const END: &str = "<|endoftext|>";
    match class {
        TokenizerClass::Albert => &[
            ("bos_token", "[CLS]"),
            ("eos_token", "[SEP]"),
            ("unk_token", "<unk>"),
            ("sep_token", "[SEP]"),
            ("pad_token", "<pad>"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        TokenizerClass::Bert => &[
            ("unk_token", "[UNK]"),
            ("sep_token", "[SEP]"),
            ("pad_token", "[PAD]"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        TokenizerClass::DebertaV2 => &[
            ("bos_token", "[CLS]"),
            ("eos_token", "[SEP]"),
            ("unk_token", "[UNK]"),
            ("sep_token", "[SEP]"),
            ("pad_token", "[PAD]"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        TokenizerClass::Mpnet => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "[UNK]"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
        ],
        TokenizerClass::Roberta => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
        ],
        TokenizerClass::Gpt2 => &[("bos_token", END), ("eos_token", END), ("unk_token", END)],
        TokenizerClass::Qwen2 => &[("eos_token", END), ("unk_token", END), ("pad_token", END)],
        TokenizerClass::Llama => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
        ],
        TokenizerClass::Vits => &[("unk_token", "<unk>"), ("pad_token", "<pad>")],
        TokenizerClass::Generic | TokenizerClass::FrameTokens | TokenizerClass::Marian => &[],
    }
}

/// Tokens of `added_tokens_decoder` or of the older `added_tokens.json` in the order of their ids,
/// then special tokens without a role.
fn further(directory: &Path, file: &ConfigFile) -> Result<Vec<AddedToken>, PreprocessError> {
    const DECODER: &str = "added_tokens_decoder";
    let mut numbered = Vec::new();
    // `_from_pretrained` does not open the older file beside this field.
    if file.get(DECODER).is_none() {
        let older = ConfigFile::read_or_empty(directory, "added_tokens.json")?;
        for (content, id) in older.fields() {
            let id = id
                .as_u64()
                .ok_or_else(|| older.not_a(content, "a token id", id))?;
            numbered.push((id, AddedToken::from(content, false)));
        }
    }
    if let Some(value) = file.get(DECODER) {
        let entries = value
            .as_object()
            .ok_or_else(|| file.not_a(DECODER, "an object", value))?;
        for (id, value) in entries {
            let id: u64 = id.parse().map_err(|_| {
                file.wrong(
                    DECODER,
                    &format!("has the key `{id}`"),
                    "use token ids as keys",
                )
            })?;
            numbered.push((id, token(file, DECODER, value, false)?));
        }
    }
    // The backend numbers new tokens in the order in which they are added.
    numbered.sort_by_key(|(id, _)| *id);
    let mut tokens: Vec<AddedToken> = numbered.into_iter().map(|(_, token)| token).collect();
    for name in ["additional_special_tokens", "extra_special_tokens"] {
        for value in file
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            tokens.push(token(file, name, value, true)?);
        }
    }
    Ok(tokens)
}

/// A token as a string or as an object with its properties.
fn token(
    file: &ConfigFile,
    field: &str,
    value: &Value,
    special: bool,
) -> Result<AddedToken, PreprocessError> {
    let content = value
        .as_str()
        .or_else(|| value.get("content").and_then(Value::as_str));
    let content = content.ok_or_else(|| {
        file.not_a(
            field,
            "a token: a string or an object with `content`",
            value,
        )
    })?;
    let special = special || flag("special", false, value);
    Ok(AddedToken {
        content: content.to_owned(),
        single_word: flag("single_word", false, value),
        lstrip: flag("lstrip", false, value),
        rstrip: flag("rstrip", false, value),
        // The default of `AddedToken`: a special token is matched before a normaliser changes its
        // letters.
        normalized: flag("normalized", !special, value),
        special,
    })
}

fn flag(name: &str, default: bool, value: &Value) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(default)
}
