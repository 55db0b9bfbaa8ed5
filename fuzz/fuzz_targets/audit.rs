//! See `blue_fuzz::audit`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blue_fuzz::audit(bytes));
