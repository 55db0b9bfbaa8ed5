//! Refuses a template that would be too expensive to parse or compile.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

/// Maximum number of tokens in a tag. The parser and the compiler recurse for each operator, and
/// constants are folded again at each level.
const MAX_TOKENS: usize = 1_000;

/// Maximum number of `elif` branches in a template. Each is nested in the previous one.
const MAX_BRANCHES: usize = 200;

/// Checks the tags of a template. The error is the line of the first refused tag, and the reason.
pub(super) fn check(text: &str, syntax: &SyntaxConfig) -> Result<(), (usize, String)> {
    let (mut tag, mut n_branches) = (Tag::default(), 0);
    for token in tokenize(text, false, syntax.clone()) {
        // The compiler reports syntax errors.
        let Ok((token, span)) = token else { return Ok(()) };
        if let Some(reason) = tag.add(&token, &mut n_branches) {
            return Err((usize::from(span.start_line), reason));
        }
    }
    Ok(())
}

/// The tag that is being checked.
#[derive(Default)]
struct Tag {
    is_statement: bool,
    n_tokens: usize,
    /// True if it contains a string literal, `[` or `,`.
    has_literal: bool,
    has_multiplication: bool,
    /// True after `[`, `(` or `,`, where `*` is not the multiplication operator.
    at_item: bool,
}

impl Tag {
    fn add(&mut self, token: &Token, n_branches: &mut usize) -> Option<String> {
        if matches!(token, Token::BlockStart | Token::VariableStart) {
            let is_statement = matches!(token, Token::BlockStart);
            *self = Tag { is_statement, ..Tag::default() };
        }
        self.n_tokens += 1;
        let names_statement = self.is_statement && self.n_tokens == 2;
        match token {
            Token::Ident("elif") if names_statement => *n_branches += 1,
            Token::Ident(name @ ("block" | "extends" | "from" | "import" | "include"))
                if names_statement =>
            {
                return Some(format!("`{name}` is not available: a template is one file"));
            }
            Token::Str(_) | Token::String(_) | Token::BracketOpen | Token::Comma => {
                self.has_literal = true;
            }
            Token::Mul => self.has_multiplication |= !self.at_item,
            _ => {}
        }
        self.at_item = matches!(token, Token::BracketOpen | Token::ParenOpen | Token::Comma);
        if self.n_tokens > MAX_TOKENS {
            return Some(format!("a tag may have at most {MAX_TOKENS} tokens"));
        }
        if *n_branches > MAX_BRANCHES {
            return Some(format!("a template may have at most {MAX_BRANCHES} `elif` branches"));
        }
        // The compiler would fold the repeated constant without any limit.
        (self.has_literal && self.has_multiplication)
            .then(|| "`*` in a tag with a quoted text or a list; set a variable first".to_string())
    }
}
