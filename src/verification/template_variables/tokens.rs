//! The tokens of a template's tag, read as Tera reads them.

/// A token of an expression: a name, a sign, or a literal, whose text is empty.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) is_name: bool,
}

pub(super) fn tokens(text: &str, first_line: usize) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let (mut line, mut string) = (first_line, StringState::default());
    for character in text.chars() {
        line += usize::from(character == '\n');
        match string.read(character) {
            CharContext::Expression => push(&mut tokens, character, line),
            CharContext::OpeningQuote => tokens.push(Token {
                text: String::new(),
                line,
                is_name: false,
            }),
            CharContext::String => {}
        }
    }
    // White space only kept `push` from joining two words.
    tokens.retain(|token| token.text != " ");
    tokens
}

fn push(tokens: &mut Vec<Token>, character: char, line: usize) {
    let is_word = character.is_alphanumeric() || character == '_';
    match tokens.last_mut() {
        Some(last)
            if is_word
                && last
                    .text
                    .ends_with(|end: char| end.is_alphanumeric() || end == '_') =>
        {
            last.text.push(character);
        }
        _ => {
            let is_name = is_word && !character.is_numeric();
            let text = if character.is_whitespace() {
                ' '
            } else {
                character
            };
            tokens.push(Token {
                text: text.to_string(),
                line,
                is_name,
            });
        }
    }
}

/// The position of the first `close` outside of strings.
pub(super) fn end_of_expression(text: &str, close: &str) -> Option<usize> {
    let mut string = StringState::default();
    text.char_indices()
        .find(|&(at, character)| {
            string.read(character) == CharContext::Expression && text[at..].starts_with(close)
        })
        .map(|(at, _)| at)
}

/// Whether the text that was read so far ends in a string.
#[derive(Default)]
struct StringState {
    quote: Option<char>,
    is_escaped: bool,
}

/// The part of a tag that a character belongs to.
#[derive(PartialEq, Eq)]
enum CharContext {
    Expression,
    /// It opens a string.
    OpeningQuote,
    /// A string, or the quote that closes it.
    String,
}

impl StringState {
    fn read(&mut self, character: char) -> CharContext {
        match self.quote {
            Some(_) if self.is_escaped => self.is_escaped = false,
            // As Tera reads strings, whatever their quote.
            Some(_) if character == '\\' => self.is_escaped = true,
            Some(open) => self.quote = (character != open).then_some(open),
            None if matches!(character, '"' | '\'' | '`') => {
                self.quote = Some(character);
                return CharContext::OpeningQuote;
            }
            None => return CharContext::Expression,
        }
        CharContext::String
    }
}
