//! See `blue_fuzz::addresses`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::addresses(bytes));
