//! See `blue_fuzz::caches`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::caches(bytes));
