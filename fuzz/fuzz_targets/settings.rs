//! See `blue_fuzz::settings`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::settings(bytes));
