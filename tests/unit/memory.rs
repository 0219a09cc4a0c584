//! What `src/store/memory.rs` keeps to itself.

use super::*;

#[test]
fn arrays_are_zeroed_and_writable() {
    let mut array = Array::zeroed(1000).unwrap();
    assert_eq!(array.units().len(), 1000);
    assert!(array.units().iter().flatten().all(|&byte| byte == 0));
    array.units_mut()[999] = [7; 64];
    assert_eq!(array.units()[999], [7; 64]);
}

#[test]
fn an_impossible_array_is_an_error() {
    assert!(matches!(
        Array::zeroed(u64::MAX / 64),
        Err(MemoryError::Map { .. })
    ));
}

#[test]
fn a_process_knows_its_peak_and_its_budget() {
    assert!(budget() > 0);
    #[cfg(target_os = "linux")]
    assert!(peak_memory().unwrap() > 1 << 20);
}
