//! List items, headings and paragraphs of the Markdown files in a container.

/// A list item, or a heading that is an id with the text below it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    /// Id at its start, such as `privacy.no_pii`.
    pub id: Option<String>,
    /// Its text on one line, without the id.
    pub text: String,
}

/// Returns all items of a Markdown text, in order. Nested items belong to the one above them.
pub fn items(text: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut is_open = false;
    let mut is_fenced = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
        }
        if is_fenced {
            continue;
        }
        let indent = line.len() - trimmed.len();
        match list_item(trimmed) {
            Some(text) if indent < 2 => {
                items.push(item(text));
                is_open = true;
            }
            _ if trimmed.is_empty() => {}
            _ if trimmed.starts_with('#') => {
                let heading = trimmed.trim_start_matches('#').trim();
                let id = id_at_start(heading).filter(|(_, rest)| rest.is_empty());
                is_open = id.is_some();
                items.extend(id.map(|(id, _)| Item { id: Some(id), text: String::new() }));
            }
            nested => {
                if let Some(last) = items.last_mut().filter(|_| is_open) {
                    let text = nested.unwrap_or(trimmed).trim();
                    let separator = if last.text.is_empty() { "" } else { " " };
                    last.text = format!("{}{separator}{text}", last.text);
                }
            }
        }
    }
    items.retain(|item| item.id.is_some() || !item.text.is_empty());
    items
}

fn list_item(line: &str) -> Option<&str> {
    if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(rest);
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line[digits..].strip_prefix(['.', ')'])?;
    (digits > 0 && digits < 4).then(|| rest.strip_prefix(' ')).flatten()
}

fn item(text: &str) -> Item {
    match id_at_start(text.trim()) {
        Some((id, rest)) => Item { id: Some(id), text: rest.to_string() },
        None => Item { id: None, text: text.trim().to_string() },
    }
}

/// Splits an id off the start of a text: `` `id` – text``, `**id**: text` or `id: text`, where an
/// id has no spaces.
fn id_at_start(text: &str) -> Option<(String, &str)> {
    let marked = ["**`", "`", "**", ""].into_iter().find_map(|open| {
        let close: String = open.chars().rev().collect();
        let rest = text.strip_prefix(open)?;
        let end = match open {
            "" => rest.find([':', ' ']).unwrap_or(rest.len()),
            _ => rest.find(&close)?,
        };
        Some((open, &rest[..end], rest[end..].strip_prefix(close.as_str()).unwrap_or_default()))
    });
    let (open, id, rest) = marked?;
    let id = id.trim_end_matches(':');
    let is_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    let looks_like_id = !id.is_empty()
        && id.chars().all(is_id)
        && (id.contains(['_', '.']) || matches!(open, "`" | "**`"))
        && !id.ends_with('.');
    let is_separated = !open.is_empty() || rest.starts_with(':') || rest.is_empty();
    if !looks_like_id || !is_separated {
        return None;
    }
    Some((id.to_string(), rest.trim_start_matches([':', '–', '—', '-', ' ']).trim()))
}

/// Returns the paragraphs of a text that are neither headings nor lists, each on one line.
pub fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut is_fenced = false;
    let mut in_list = false;
    for line in text.lines().chain([""]) {
        let trimmed = line.trim();
        is_fenced ^= trimmed.starts_with("```");
        let is_prose = !is_fenced
            && !trimmed.is_empty()
            && !trimmed.starts_with(['#', '|', '>'])
            && !trimmed.starts_with("```")
            && !trimmed.starts_with("<!--");
        in_list = !trimmed.is_empty() && (in_list || list_item(trimmed).is_some());
        if is_prose && !in_list {
            open.push(trimmed);
        } else if !open.is_empty() {
            paragraphs.push(open.join(" "));
            open.clear();
        }
    }
    paragraphs
}

/// Returns the text below the heading with a name, up to the next heading of its level or above.
pub fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let level = line.len() - line.trim_start_matches('#').len();
        if level > 0 && line[level..].starts_with(' ') {
            match start {
                Some((from, of)) if level <= of => return Some(&text[from..at]),
                None if line[level..].trim().eq_ignore_ascii_case(name) => {
                    start = Some((at + line.len(), level));
                }
                _ => {}
            }
        }
        at += line.len();
    }
    start.map(|(from, _)| &text[from..])
}

/// Returns the first sentence of a text, at most 240 characters.
pub fn first_sentence(text: &str) -> String {
    let text = text.trim();
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    let sentence = &text[..end];
    match sentence.char_indices().nth(240) {
        None => sentence.to_string(),
        Some((at, _)) => {
            let cut = sentence[..at].rfind(' ').unwrap_or(at);
            format!("{}…", &sentence[..cut])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(Option<String>, String)> {
        items(text).into_iter().map(|item| (item.id, item.text)).collect()
    }

    #[test]
    fn clauses_are_found_in_every_spelling() {
        let text = "# Guardrails\n- no_pii_in_logs: true\n- `privacy.local` – Data stays here,\n  always.\n- **safety.stop**: Stop.\n- Be kind.\n### context.log_refresh_hashes\nLog them.\n1. **Scope** – Stay inside.\n";
        let id = |id: &str| Some(id.to_string());
        assert_eq!(
            pairs(text),
            [
                (id("no_pii_in_logs"), "true".to_string()),
                (id("privacy.local"), "Data stays here, always.".to_string()),
                (id("safety.stop"), "Stop.".to_string()),
                (None, "Be kind.".to_string()),
                (id("context.log_refresh_hashes"), "Log them.".to_string()),
                (None, "**Scope** – Stay inside.".to_string()),
            ]
        );
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let text = "# A\n## Intent\nOne.\n### More\nTwo.\n## Next\nThree.\n";
        assert_eq!(section(text, "intent"), Some("One.\n### More\nTwo.\n"));
        assert_eq!(section(text, "next"), Some("Three.\n"));
        assert_eq!(section(text, "absent"), None);
    }

    #[test]
    fn paragraphs_leave_lists_and_headings_out() {
        let text = "# T\n\nOne\ntwo.\n\n- item\n  more\n\nThree.\n";
        assert_eq!(paragraphs(text), ["One two.", "Three."]);
    }
}
