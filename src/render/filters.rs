//! Template filters that charge for their result before they run.

use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value, filters};

use super::meter::{VALUE, charge, settle, weight};

/// Replaces every filter of the engine by a metered one, and removes those that cannot be metered:
/// `format` pads to any width, and `chain` stacks maps that are merged only when they are read.
pub(super) fn add_to(environment: &mut Environment) {
    environment.remove_filter("format");
    environment.remove_filter("chain");
    // `debug` would print the whole context.
    environment.remove_global("debug");
    for (name, original) in originals() {
        let metered = move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            let cost = cost(name, &arguments)?;
            charge(state, cost)?;
            let result = original.call(state, &arguments)?;
            settle(state, result)
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

/// Estimates the maximum number of bytes that a filter produces from its arguments. Filters that
/// are not listed here produce no more than they get.
fn cost(name: &str, arguments: &[Value]) -> Result<u64, Error> {
    let weights = arguments.iter().map(weight).collect::<Result<Vec<u64>, Error>>()?;
    let all: u64 = weights.iter().sum();
    let weight_of = |i: usize| weights.get(i).copied().unwrap_or_default();
    let number = |i: usize| arguments.get(i).and_then(Value::as_usize).unwrap_or_default() as u64;
    let text = |i: usize| arguments.get(i).map(Value::to_string).unwrap_or_default();
    let added = match name {
        "replace" => text(0).matches(&text(1)).count() as u64 * weight_of(2),
        "join" => n_items(arguments) * (all - weight_of(0)),
        "batch" | "slice" => number(1).saturating_mul(2 * VALUE + weight_of(2)),
        "sum" if is_quadratic_sum(arguments) => n_items(arguments) * all,
        "indent" => text(0).matches('\n').count() as u64 * MAX_WIDTH as u64,
        // `pprint` indents, and escapes one character with up to six.
        "pprint" => all * 9,
        "lines" => text(0).matches('\n').count() as u64 * VALUE,
        "split" if arguments.len() > 1 => text(0).matches(&text(1)).count() as u64 * VALUE,
        _ if is_text(arguments) && !returns_text(name) => n_items(arguments) * VALUE,
        _ => 0,
    };
    Ok(all.saturating_add(added))
}

fn is_text(arguments: &[Value]) -> bool {
    arguments.first().is_some_and(|value| value.kind() == ValueKind::String)
}

/// Returns true if a filter converts a text to a text. Others make a list of its characters.
fn returns_text(name: &str) -> bool {
    matches!(
        name,
        "capitalize"
            | "count"
            | "d"
            | "default"
            | "e"
            | "escape"
            | "first"
            | "last"
            | "length"
            | "lower"
            | "safe"
            | "string"
            | "title"
            | "trim"
            | "upper"
    )
}

fn n_items(arguments: &[Value]) -> u64 {
    arguments.first().and_then(Value::len).unwrap_or_default() as u64
}

/// Returns true if a sum starts from a text or a list. Such a sum copies the previous sum for each
/// item.
fn is_quadratic_sum(arguments: &[Value]) -> bool {
    let kwargs = arguments.last().filter(|last| last.is_kwargs());
    let start = kwargs.and_then(|kwargs| kwargs.get_attr("start").ok());
    let start = start.as_ref().filter(|start| !start.is_undefined()).or(arguments.get(2));
    start.is_some_and(|start| !start.is_number())
}

/// Maximum number of spaces that a line is indented by.
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
