//! Filters for templates, each of which is charged for before it runs.

use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value, filters};

use super::meter::{VALUE, charge, settle, weight};

/// Replaces every filter of the engine by a metered one, and removes those that cannot be metered:
/// `format` pads to any width, and `chain` stacks maps that are merged only when they are read.
pub(super) fn add_to(environment: &mut Environment) {
    environment.remove_filter("format");
    environment.remove_filter("chain");
    // It would print the whole context.
    environment.remove_global("debug");
    for (name, original) in originals() {
        let metered = move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            let cost = cost(name, &arguments)?;
            charge(state, cost)?;
            let made = original.call(state, &arguments)?;
            settle(state, made)
        };
        environment.add_filter(name, metered);
    }
}

fn originals() -> Vec<(&'static str, Value)> {
    vec![
        ("abs", Value::from_function(filters::abs)),
        ("attr", Value::from_function(filters::attr)),
        ("batch", Value::from_function(filters::batch)),
        ("bool", Value::from_function(filters::bool)),
        ("capitalize", Value::from_function(filters::capitalize)),
        ("count", Value::from_function(filters::length)),
        ("d", Value::from_function(filters::default)),
        ("default", Value::from_function(filters::default)),
        ("dictsort", Value::from_function(filters::dictsort)),
        ("e", Value::from_function(filters::escape)),
        ("escape", Value::from_function(filters::escape)),
        ("first", Value::from_function(filters::first)),
        ("float", Value::from_function(filters::float)),
        ("groupby", Value::from_function(filters::groupby)),
        ("indent", Value::from_function(indented)),
        ("int", Value::from_function(filters::int)),
        ("items", Value::from_function(filters::items)),
        ("join", Value::from_function(filters::join)),
        ("last", Value::from_function(filters::last)),
        ("length", Value::from_function(filters::length)),
        ("lines", Value::from_function(filters::lines)),
        ("list", Value::from_function(filters::list)),
        ("lower", Value::from_function(filters::lower)),
        ("map", Value::from_function(filters::map)),
        ("max", Value::from_function(filters::max)),
        ("min", Value::from_function(filters::min)),
        ("pprint", Value::from_function(filters::pprint)),
        ("reject", Value::from_function(filters::reject)),
        ("rejectattr", Value::from_function(filters::rejectattr)),
        ("replace", Value::from_function(filters::replace)),
        ("reverse", Value::from_function(filters::reverse)),
        ("round", Value::from_function(filters::round)),
        ("safe", Value::from_function(filters::safe)),
        ("select", Value::from_function(filters::select)),
        ("selectattr", Value::from_function(filters::selectattr)),
        ("slice", Value::from_function(filters::slice)),
        ("sort", Value::from_function(filters::sort)),
        ("split", Value::from_function(filters::split)),
        ("string", Value::from_function(filters::string)),
        ("sum", Value::from_function(filters::sum)),
        ("title", Value::from_function(filters::title)),
        ("trim", Value::from_function(filters::trim)),
        ("unique", Value::from_function(filters::unique)),
        ("upper", Value::from_function(filters::upper)),
        ("zip", Value::from_function(filters::zip)),
    ]
}

/// Returns roughly the most bytes that a filter makes of its arguments. A filter that is not named
/// here makes no more than it gets.
fn cost(name: &str, arguments: &[Value]) -> Result<u64, Error> {
    let weights = arguments.iter().map(weight).collect::<Result<Vec<u64>, Error>>()?;
    let all: u64 = weights.iter().sum();
    let given = |i: usize| weights.get(i).copied().unwrap_or_default();
    let number = |i: usize| arguments.get(i).and_then(Value::as_usize).unwrap_or_default() as u64;
    let text = |i: usize| arguments.get(i).map(Value::to_string).unwrap_or_default();
    let more = match name {
        "replace" => text(0).matches(&text(1)).count() as u64 * given(2),
        "join" => n_items(arguments) * (all - given(0)),
        "batch" | "slice" => number(1).saturating_mul(2 * VALUE + given(2)),
        "sum" if starts_with_many(arguments) => n_items(arguments) * all,
        "indent" => text(0).matches('\n').count() as u64 * MAX_WIDTH as u64,
        // It indents, and escapes one character with up to six.
        "pprint" => all * 9,
        "lines" => text(0).matches('\n').count() as u64 * VALUE,
        "split" if arguments.len() > 1 => text(0).matches(&text(1)).count() as u64 * VALUE,
        _ if is_text(arguments) && !is_of_text(name) => n_items(arguments) * VALUE,
        _ => 0,
    };
    Ok(all.saturating_add(more))
}

fn is_text(arguments: &[Value]) -> bool {
    arguments.first().is_some_and(|value| value.kind() == ValueKind::String)
}

/// True if a filter makes text of a text. Other filters would make a list of its characters.
fn is_of_text(name: &str) -> bool {
    let text = ["capitalize", "d", "default", "e", "escape", "first", "last", "lower"];
    let other = ["count", "length", "safe", "string", "title", "trim", "upper"];
    text.contains(&name) || other.contains(&name)
}

fn n_items(arguments: &[Value]) -> u64 {
    arguments.first().and_then(Value::len).unwrap_or_default() as u64
}

/// Returns true if a sum starts from a text or a list, and so copies the sum so far for each item.
fn starts_with_many(arguments: &[Value]) -> bool {
    let keyed = arguments.last().filter(|last| last.is_kwargs());
    let start = keyed.and_then(|keyed| keyed.get_attr("start").ok());
    let start = start.as_ref().filter(|start| !start.is_undefined()).or(arguments.get(2));
    start.is_some_and(|start| !start.is_number())
}

/// Most spaces that a line is indented by.
const MAX_WIDTH: usize = 16;

/// Indents every line except the first one and empty ones.
fn indented(text: &str, width: usize) -> String {
    let space = " ".repeat(width.min(MAX_WIDTH));
    let lines = text.split('\n').enumerate();
    let lines = lines.map(|(i, line)| match i == 0 || line.trim().is_empty() {
        true => line.to_string(),
        false => format!("{space}{line}"),
    });
    lines.collect::<Vec<String>>().join("\n")
}
