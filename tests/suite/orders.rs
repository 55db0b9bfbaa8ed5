//! How many orders to an agent are noticed, and that what people write every day is not.
//!
//! Each line of `tests/orders/*.txt` is a text of its own, with `\n` for a line's end. The rules were
//! written with `known.txt` at hand; `held_out.txt` was written afterwards and no rule was
//! changed for it, so its share is nearer to what a stranger's orders meet.

use blue::guard::{Allowed, clean};

fn is_noticed(line: &str) -> bool {
    let text = line.replace("\\n", "\n");
    let found = clean(&text, &Allowed::default());
    assert_eq!(found.text, text, "text that gives orders is kept");
    found.notes.iter().any(|note| note.code.as_str().starts_with("BLUE-INJ"))
}

fn missed(lines: &str) -> Vec<&str> {
    lines.lines().filter(|line| !is_noticed(line)).collect()
}

#[test]
fn most_orders_are_noticed_in_any_of_the_languages() {
    for (lines, most) in
        [(include_str!("../orders/known.txt"), 7), (include_str!("../orders/held_out.txt"), 12)]
    {
        let missed = missed(lines);
        println!("{} of {} missed", missed.len(), lines.lines().count());
        assert!(missed.len() <= most, "{missed:#?}");
    }
}

#[test]
fn what_documents_say_every_day_is_no_order() {
    let lines = include_str!("../orders/plain.txt");
    let noticed: Vec<&str> = lines.lines().filter(|line| is_noticed(line)).collect();
    assert!(noticed.is_empty(), "{noticed:#?}");
}
