//! See `blue_fuzz::config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::config(bytes));
