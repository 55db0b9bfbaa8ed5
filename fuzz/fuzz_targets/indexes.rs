//! See `blue_fuzz::indexes`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::indexes(bytes));
