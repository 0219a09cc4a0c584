//! What `src/store/parallel.rs` keeps to itself.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::in_parallel;

#[test]
fn every_part_is_worked_on_and_the_first_error_returned() {
    let mut parts = vec![0; 1000];
    in_parallel(parts.iter_mut(), |i, part| {
        *part = i;
        Ok::<_, ()>(())
    })
    .unwrap();
    assert!(parts.iter().enumerate().all(|(i, &part)| i == part));
    let done = AtomicUsize::new(0);
    let first = in_parallel(parts.iter(), |i, _| {
        done.fetch_add(1, Ordering::Relaxed);
        if i % 10 == 7 { Err(i) } else { Ok(()) }
    });
    assert_eq!(first, Err(7));
    assert!(done.into_inner() < 1000);
}
