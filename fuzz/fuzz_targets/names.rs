//! See `blue_fuzz::names`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::names(bytes));
