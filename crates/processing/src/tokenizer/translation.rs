//! The two vocabularies of a `MarianTokenizer`: a SentencePiece model splits the source into
//! pieces, `vocab.json` numbers them, and what the decoder writes is numbered by the same file or
//! by `target_vocab.json`.

use crate::{config_file::ConfigFile, error::PreprocessError, sentence_piece::SentencePiece};
use std::{collections::BTreeMap, path::Path};
use tokenizers::{AddedToken, Tokenizer, processors::template::TemplateProcessing};

/// Maps the ids of the split pieces to the ids of the model, and the ids of the decoder to text.
#[derive(Debug)]
pub(super) struct Translation {
    /// The model's id of every id of the backend.
    ids: Vec<u32>,
    pub(super) pad: Option<u32>,
    source: BTreeMap<i64, String>,
    target: BTreeMap<i64, String>,
    /// Whether `target` is from a separate file.
    separate: bool,
    special: Vec<String>,
}

// The defaults of `MarianTokenizer`.
const SPECIAL: [(&str, &str); 3] = [
    ("eos_token", "</s>"),
    ("unk_token", "<unk>"),
    ("pad_token", "<pad>"),
];

impl Translation {
    /// The backend and the two vocabularies in `directory`, or `None` if there is no `source.spm`.
    pub(super) fn open(directory: &Path) -> Result<Option<(Tokenizer, Self)>, PreprocessError> {
        let path = directory.join("source.spm");
        let Some(vocabulary) =
            ConfigFile::read(directory, "vocab.json")?.filter(|_| path.is_file())
        else {
            return Ok(None);
        };
        let source = SentencePiece::read(&path)?;
        let settings = ConfigFile::read_or_empty(directory, "tokenizer_config.json")?;
        let [end, unknown, pad] =
            SPECIAL.map(|(role, default)| special_token(role, default, &settings));
        let unknown_id = id_of(&unknown, &vocabulary).ok_or_else(|| {
            vocabulary.wrong(
                &unknown,
                "is missing",
                "a Marian vocabulary has the unknown token",
            )
        })?;
        let mut backend = source.tokenizer()?;
        add_special_tokens(&mut backend, [&end, &unknown, &pad], &vocabulary);
        append_end(&mut backend, &end)?;
        let ids = ids_of_pieces(&backend, unknown_id, &vocabulary);
        // Models that share one vocabulary have no second file.
        let separate = settings.flag("separate_vocabs")?.unwrap_or(false);
        let source = by_id(&vocabulary);
        let target = match separate {
            true => by_id(&ConfigFile::read_or_empty(directory, "target_vocab.json")?),
            false => source.clone(),
        };
        let translation = Self {
            ids,
            pad: id_of(&pad, &vocabulary),
            source,
            target,
            separate,
            special: vec![end, unknown, pad],
        };
        Ok(Some((backend, translation)))
    }

    /// The tokens of the source, by id.
    pub(super) fn source(&self) -> impl Iterator<Item = (i64, &str)> {
        self.source.iter().map(|(id, token)| (*id, token.as_str()))
    }

    /// The tokens of the target, by id, if they are in a separate file.
    pub(super) fn separate_target(&self) -> impl Iterator<Item = (i64, &str)> {
        self.target
            .iter()
            .filter(|_| self.separate)
            .map(|(id, token)| (*id, token.as_str()))
    }

    /// The model's id of the backend's.
    pub(super) fn id(&self, piece: u32) -> u32 {
        self.ids.get(piece as usize).copied().unwrap_or_default()
    }

    /// The text of what the decoder wrote, without special tokens.
    pub(super) fn decode(&self, ids: &[i64]) -> String {
        let pieces = ids
            .iter()
            .filter_map(|id| self.target.get(id))
            .filter(|piece| !self.special.contains(piece));
        pieces
            .map(String::as_str)
            .collect::<String>()
            .replace('▁', " ")
            .trim()
            .to_owned()
    }
}

/// The text of a special token: a string, or an object with the string.
fn special_token(role: &str, default: &str, settings: &ConfigFile) -> String {
    let content = settings
        .get(role)
        .and_then(|value| value.as_str().or_else(|| value.get("content")?.as_str()));
    content.unwrap_or(default).to_owned()
}

fn id_of(token: &str, vocabulary: &ConfigFile) -> Option<u32> {
    vocabulary
        .get(token)
        .and_then(|id| u32::try_from(id.as_u64()?).ok())
}

/// Adds the tokens that SentencePiece must not split.
fn add_special_tokens(backend: &mut Tokenizer, special: [&str; 3], vocabulary: &ConfigFile) {
    // `MarianTokenizer` cuts a language code off the text before SentencePiece, which would
    // split it.
    let codes = vocabulary
        .fields()
        .map(|(token, _)| token)
        .filter(|token| is_language(token));
    let added: Vec<AddedToken> = special
        .into_iter()
        .chain(codes)
        .map(|token| AddedToken::from(token, true))
        .collect();
    backend.add_special_tokens(&added);
}

/// Lets every text end with the token `end`.
fn append_end(backend: &mut Tokenizer, end: &str) -> Result<(), PreprocessError> {
    let piece = backend.token_to_id(end).unwrap_or_default();
    let template = TemplateProcessing::builder()
        .try_single(format!("$A {end}"))
        .and_then(|builder| {
            builder
                .special_tokens(vec![(end.to_owned(), piece)])
                .build()
                .map_err(|e| e.to_string())
        });
    backend.with_post_processor(Some(
        template.map_err(|message| PreprocessError::Tokenizer { message })?,
    ));
    Ok(())
}

/// The model's id of every piece of the backend.
fn ids_of_pieces(backend: &Tokenizer, unknown_id: u32, vocabulary: &ConfigFile) -> Vec<u32> {
    let count = backend.get_vocab_size(true) as u32;
    (0..count)
        .map(|piece| {
            // The two files number pieces independently; `MarianTokenizer` takes a piece
            // without a number as unknown.
            backend
                .id_to_token(piece)
                .and_then(|token| id_of(&token, vocabulary))
                .unwrap_or(unknown_id)
        })
        .collect()
}

fn by_id(vocabulary: &ConfigFile) -> BTreeMap<i64, String> {
    vocabulary
        .fields()
        .filter_map(|(token, id)| Some((id.as_i64()?, token.to_owned())))
        .collect()
}

/// `>>de<<`: the language that a model of several languages shall write.
fn is_language(token: &str) -> bool {
    token.starts_with(">>") && token.ends_with("<<")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Translation, is_language};
    use crate::tokenizer::Tokenizer;
    use serde_json::Value;
    use std::{collections::BTreeMap, fs, path::Path};

    /// Expected ids and text are from `MarianTokenizer`.
    #[test]
    fn a_language_is_one_token_and_pieces_become_text() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/marian");
        let tokenizer = Tokenizer::open(&fixture).unwrap().unwrap();
        let ids = tokenizer.encode(&[">>deu<< I saw  the words!"]).unwrap();
        let expected = [2, 80, 82, 80, 67, 48, 71, 54, 80, 71, 63, 66, 51, 67, 3, 0];
        assert_eq!(ids["input_ids"].as_integers(), Some(&expected[..]));
        assert_eq!(
            tokenizer
                .decode_target(&[88, 80, 82, 80, 67, 48, 71, 1, 0])
                .unwrap(),
            "I saw"
        );
    }
    #[test]
    fn a_language_has_both_brackets() {
        assert_eq!(
            [">>deu<<", ">>", "deu<<", "deu"].map(is_language),
            [true, false, false, false]
        );
    }
    #[test]
    fn the_vocabularies_are_those_of_the_files() {
        for (name, target) in [
            ("marian", None),
            ("marian_two_vocabularies", Some("target_vocab.json")),
        ] {
            let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../fixtures")
                .join(name);
            let read = |file: &str| -> BTreeMap<i64, String> {
                let tokens: BTreeMap<String, Value> =
                    serde_json::from_slice(&fs::read(fixture.join(file)).unwrap()).unwrap();
                tokens
                    .into_iter()
                    .map(|(token, id)| (id.as_i64().unwrap(), token))
                    .collect()
            };
            let (_, translation) = Translation::open(&fixture).unwrap().unwrap();
            let owned = |(id, token): (i64, &str)| (id, token.to_owned());
            assert_eq!(
                translation.source().map(owned).collect::<BTreeMap<_, _>>(),
                read("vocab.json"),
                "{name}"
            );
            let separate: BTreeMap<i64, String> =
                translation.separate_target().map(owned).collect();
            assert_eq!(separate, target.map(read).unwrap_or_default(), "{name}");
        }
    }
}
