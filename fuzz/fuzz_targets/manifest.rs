//! See `blue_fuzz::manifest`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::manifest(bytes));
