//! See `blue_fuzz::guard`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::guard(bytes));
