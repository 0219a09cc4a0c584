//! What `src/cli/values.rs` keeps to itself.

use super::*;

#[test]
fn sizes_and_times_need_units() {
    let sizes = [
        ("8GiB", 8 << 30),
        ("8G", 8 << 30),
        ("512k", 512 << 10),
        ("1.5 kB", 1500),
        ("500mb", 500_000_000),
        ("7B", 7),
    ];
    for (text, expected) in sizes {
        assert_eq!(bytes(text), Ok(expected), "{text}");
    }
    for text in [
        "8",
        "",
        "GiB",
        "8GiBs",
        "-8GiB",
        "1e99GiB",
        "9999999999999TB",
        ".",
        "8Gb",
        "8bb",
        "8i",
    ] {
        assert!(bytes(text).is_err(), "{text}");
    }
    let rates = [
        ("5GB/s", 5_000_000_000),
        ("5Gb/s", 625_000_000),
        ("40Gbit/s", 5_000_000_000),
        ("1GiB/s", 1 << 30),
    ];
    for (text, expected) in rates {
        assert_eq!(bandwidth(text), Ok(expected), "{text}");
    }
    for text in ["5GB", "5", "/s", "0MB/s", "-1GB/s", "b/s"] {
        assert!(bandwidth(text).is_err(), "{text}");
    }
    let times = [("0", 0), ("500ms", 500), ("1.5 min", 90_000)];
    for (text, expected) in times {
        assert_eq!(time(text), Ok(Duration::from_millis(expected)), "{text}");
    }
    for text in ["", "5", "s", "-1s", "1e9999s", "3 days"] {
        assert!(time(text).is_err(), "{text}");
    }
}
