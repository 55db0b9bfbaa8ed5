//! Limits the bytes that a template produces, so that a small one cannot exhaust memory or time.
//!
//! minijinja's fuel only counts instructions, and a single instruction can double a text. The
//! operators cannot be replaced, so charges are inserted into the compiled instructions before and
//! after each one that makes a value. Filters are wrapped.

use minijinja::machinery::{Instruction, Instructions};
use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value};

/// Maximum number of bytes that one rendering may produce, including temporary values. It is dozens
/// of times the size of the largest document.
const MAX_PRODUCED: u64 = 128 << 20;

/// The charge for a value without its text.
pub(super) const VALUE: u64 = 32;

/// The charge for a macro and its closure, which stay in memory until the rendering ends.
const MACRO: u64 = 1024;

/// Maximum nesting of lists and maps. Printing, comparing and dropping them is recursive.
const MAX_DEPTH: usize = 64;

/// Names of the filters that metered instructions call. A template cannot contain such a name.
const CHARGE: &str = ":charge";
const OPERANDS: &str = ":operands";
const FACTORS: &str = ":factors";
const SEARCHED: &str = ":searched";
const ASSIGNED: &str = ":assigned";
const MERGE: &str = ":merge";
const SETTLE: &str = ":settle";

/// Number of bytes that one rendering has produced so far.
struct BytesProduced(u64);

/// Charges for bytes that are about to be produced. Fails if the limit is exceeded.
pub(super) fn charge(state: &mut State, n_bytes: u64) -> Result<(), Error> {
    let produced = state.get_or_insert_extension_with(|| BytesProduced(0));
    produced.0 = produced.0.saturating_add(n_bytes);
    match produced.0 <= MAX_PRODUCED {
        true => Ok(()),
        false => Err(too_much()),
    }
}

fn too_much() -> Error {
    let limit = MAX_PRODUCED >> 20;
    let message = format!("the template produces more than {limit} MiB of text and lists");
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Returns the size of a printed value. Parts that occur several times are counted each time.
pub(super) fn weight(value: &Value) -> Result<u64, Error> {
    let mut sum = 0;
    add_weight(value, 0, &mut sum)?;
    Ok(sum)
}

fn add_weight(value: &Value, depth: usize, sum: &mut u64) -> Result<(), Error> {
    *sum += VALUE + value.as_bytes().map_or(0, |bytes| bytes.len() as u64);
    if *sum > MAX_PRODUCED {
        return Err(too_much());
    }
    if depth > MAX_DEPTH {
        let message = format!("lists nest more than {MAX_DEPTH} deep");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let keys = match value.kind() {
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => value.try_iter()?,
        _ => return Ok(()),
    };
    let is_map = value.kind() == ValueKind::Map;
    for key in keys {
        add_weight(&key, depth + 1, sum)?;
        if is_map {
            add_weight(&value.get_item(&key)?, depth + 1, sum)?;
        }
    }
    Ok(())
}

/// Inserts charges around every instruction that makes a value.
pub(super) fn metered<'a>(from: &Instructions<'a>) -> Instructions<'a> {
    let mut into = Instructions::new(from.name(), from.source());
    let (mut starts, mut at, mut n_added) = (Vec::new(), 0, 0);
    while let Some(instruction) = from.get(at) {
        let before = charges_before(instruction);
        let after = charges_after(instruction);
        let itself = match instruction {
            Instruction::UnpackLists(_) => Instruction::UnpackLists(1),
            other => other.clone(),
        };
        let all = before.into_iter().chain([itself]).chain(after);
        starts.push(n_added);
        for instruction in all {
            match (from.get_span(at), from.get_line(at)) {
                (Some(span), _) => into.add_with_span(instruction, span),
                (None, Some(line)) => into.add_with_line(instruction, line as u16),
                (None, None) => into.add(instruction),
            };
            n_added += 1;
        }
        at += 1;
    }
    // The target of a jump may be the end.
    starts.push(n_added);
    let mut index = 0;
    while let Some(instruction) = into.get_mut(index) {
        if let Instruction::Iterate(target)
        | Instruction::Jump(target)
        | Instruction::JumpIfFalse(target)
        | Instruction::JumpIfFalseOrPop(target)
        | Instruction::JumpIfTrueOrPop(target)
        | Instruction::BuildMacro(_, target, _) = instruction
        {
            *target = starts[*target as usize];
        }
        index += 1;
    }
    into
}

/// Returns an instruction that calls a filter. The engine does not cache the lookup of the filter.
fn call<'a>(filter: &'static str, n_arguments: usize) -> Instruction<'a> {
    Instruction::ApplyFilter(filter, Some(n_arguments as u16), !0)
}

fn charges_before<'a>(instruction: &Instruction<'a>) -> Vec<Instruction<'a>> {
    let charge = |n_bytes: u64| {
        let n_bytes = Instruction::LoadConst(Value::from(n_bytes));
        vec![n_bytes, call(CHARGE, 1), Instruction::DiscardTop]
    };
    let operands = |filter| vec![call(filter, 2), Instruction::UnpackList(2)];
    let searched = |n: usize| vec![call(SEARCHED, n), Instruction::UnpackList(n)];
    match instruction {
        Instruction::EmitRaw(text) => charge(text.len() as u64),
        Instruction::Enclose(_) | Instruction::BuildMacro(..) => charge(MACRO),
        Instruction::Mul => operands(FACTORS),
        Instruction::Add
        | Instruction::StringConcat
        | Instruction::Eq
        | Instruction::Ne
        | Instruction::Gt
        | Instruction::Gte
        | Instruction::Lt
        | Instruction::Lte
        | Instruction::In
        | Instruction::CompareAndPreserve(_)
        | Instruction::PerformTest(_, Some(2), _) => operands(OPERANDS),
        Instruction::GetItem => searched(2),
        Instruction::PerformTest(_, Some(1), _) => searched(1),
        Instruction::CallMethod(_, Some(n)) => searched(usize::from(*n)),
        // The lists are merged by a filter and then unpacked as one.
        Instruction::UnpackLists(n_lists) => vec![call(MERGE, *n_lists), call(SETTLE, 1)],
        // The namespace stays on the stack to be charged afterwards, because it may now contain
        // itself.
        Instruction::SetAttr(_) => vec![call(ASSIGNED, 2), Instruction::UnpackList(3)],
        _ => Vec::new(),
    }
}

fn charges_after<'a>(instruction: &Instruction<'a>) -> Vec<Instruction<'a>> {
    match instruction {
        Instruction::Add
        | Instruction::Mul
        | Instruction::Slice
        | Instruction::BuildList(_)
        | Instruction::BuildTuple(_)
        | Instruction::BuildMap(_)
        | Instruction::BuildKwargs(_)
        | Instruction::MergeKwargs(_)
        | Instruction::CallFunction(..)
        | Instruction::CallMethod(..)
        | Instruction::CallObject(_) => vec![call(SETTLE, 1)],
        Instruction::SetAttr(_) => vec![call(SETTLE, 1), Instruction::DiscardTop],
        _ => Vec::new(),
    }
}

/// Adds the filters that metered instructions call.
pub(super) fn add_to(environment: &mut Environment) {
    environment.add_filter(CHARGE, |state: &mut State, n_bytes: u64| {
        charge(state, n_bytes).map(|()| Value::UNDEFINED)
    });
    // Unpacking a list leaves its first item on top of the stack.
    environment.add_filter(OPERANDS, |state: &mut State, left: Value, right: Value| {
        charge(state, weight(&left)? + weight(&right)?)?;
        Ok::<Value, Error>(Value::from(vec![right, left]))
    });
    environment.add_filter(FACTORS, |state: &mut State, left: Value, right: Value| {
        let times = |value: &Value| value.as_usize().unwrap_or(1) as u64;
        let repeated = weight(&left)?.saturating_mul(times(&right));
        let other = weight(&right)?.saturating_mul(times(&left));
        let numbers = left.is_number() && right.is_number();
        charge(state, if numbers { VALUE } else { repeated.max(other) })?;
        Ok::<Value, Error>(Value::from(vec![right, left]))
    });
    // Searching a text takes time proportional to its length; lists and maps are not searched.
    environment.add_filter(SEARCHED, |state: &mut State, operands: Rest<ValueOrKwargs>| {
        let operands = operands.into_values();
        let n_bytes: usize = operands.iter().filter_map(Value::as_str).map(str::len).sum();
        charge(state, n_bytes as u64)?;
        Ok::<Value, Error>(operands.into_iter().rev().collect())
    });
    environment.add_filter(ASSIGNED, |value: Value, namespace: Value| {
        Value::from(vec![namespace.clone(), value, namespace])
    });
    environment.add_filter(MERGE, |state: &mut State, lists: Rest<Value>| {
        let mut merged = Vec::new();
        for list in lists.iter() {
            charge(state, weight(list)?)?;
            merged.extend(list.try_iter()?);
        }
        Ok::<Value, Error>(Value::from(merged))
    });
    environment.add_filter(SETTLE, |state: &mut State, value: ValueOrKwargs| {
        settle(state, value.into_value())
    });
}

/// Charges for a new value. A lazy list is collected now, because the cost of nested lazy lists has
/// no bound.
pub(super) fn settle(state: &mut State, value: Value) -> Result<Value, Error> {
    charge(state, weight(&value)?)?;
    let listed = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let plain = value.is_tuple() || value.downcast_object_ref::<Vec<Value>>().is_some();
    match listed && !plain {
        true => Ok(Value::from(value.try_iter()?.collect::<Vec<Value>>())),
        false => Ok(value),
    }
}
