//! See `blue_fuzz::documents`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::documents(bytes));
