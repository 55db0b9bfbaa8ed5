//! Refuses a template that would cost too much before it runs: to parse, or to compile.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

/// Tokens of one tag. Parser and compiler recurse for each operator, and fold constants again at
/// each level.
const MAX_TOKENS: usize = 1_000;

/// `elif` branches in a template: each is nested in the one before.
const MAX_BRANCHES: usize = 200;

/// Looks at the tags of a template; gives the line of the first that is refused, and why.
pub(super) fn check(text: &str, syntax: &SyntaxConfig) -> Result<(), (usize, String)> {
    let (mut tag, mut n_branches) = (Tag::default(), 0);
    for token in tokenize(text, false, syntax.clone()) {
        // The compiler says what is wrong with it.
        let Ok((token, span)) = token else { return Ok(()) };
        let refused = tag.add(&token, &mut n_branches);
        if let Some(why) = refused {
            return Err((usize::from(span.start_line), why));
        }
    }
    Ok(())
}

/// The tag that is being read.
#[derive(Default)]
struct Tag {
    is_statement: bool,
    n_tokens: usize,
    /// It has a text in quotes, or signs by which lists are made.
    has_many: bool,
    has_times: bool,
    /// The last token opened a list or parted its items: a star behind it is no operator.
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
                self.has_many = true;
            }
            Token::Mul => self.has_times |= !self.at_item,
            _ => {}
        }
        self.at_item = matches!(token, Token::BracketOpen | Token::ParenOpen | Token::Comma);
        if self.n_tokens > MAX_TOKENS {
            return Some(format!("a tag may have {MAX_TOKENS} words and signs"));
        }
        if *n_branches > MAX_BRANCHES {
            return Some(format!("a template may have {MAX_BRANCHES} times `elif`"));
        }
        // The compiler would repeat it, and it knows no limit of ours.
        let repeats = self.has_many && self.has_times;
        repeats
            .then(|| "`*` in a tag with a quoted text or a list; set a variable first".to_string())
    }
}
