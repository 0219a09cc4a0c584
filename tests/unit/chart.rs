//! What `src/report/chart/mod.rs` keeps to itself.

use super::scene::{ACCENT, INK};
use super::*;

#[test]
fn steps_are_round_and_few() {
    assert_eq!(tick_step(7.0, 12.0), 1.0);
    assert_eq!(tick_step(54.0, 12.0), 5.0);
    assert_eq!(tick_step(109.0, 12.0), 10.0);
    assert_eq!(tick_step(23.6, 6.0), 5.0);
}

#[test]
fn powers_of_ten_are_raised() {
    assert_eq!(power_of_ten(1), "10⁰");
    assert_eq!(power_of_ten(10_000_000_000_000), "10¹³");
}

#[test]
fn no_two_ticks_of_a_logarithmic_scale_read_the_same() {
    assert_eq!(log_ticks(1), [1, 2, 5, 10]);
    assert_eq!(log_ticks(40), [1, 2, 5, 10, 20, 50, 100]);
    assert_eq!(log_ticks(1001), [1, 10, 100, 1000, 10_000]);
    assert_eq!(log_ticks(u64::MAX).len(), 10);
    for largest in [0, 1, 2, 9, 10, 11, 4_000, 20_000_000, 10_000_000_000_000] {
        let ticks = log_ticks(largest);
        assert!(ticks.is_sorted_by(|a, b| a < b) && ticks.len() <= 11);
        assert!(*ticks.last().unwrap() >= largest);
    }
}

#[test]
fn the_plot_of_one_level_has_whole_ticks() {
    let svg = Chart::new("1x1".into(), &[1], true).svg();
    let texts = svg
        .lines()
        .filter(|line| line.contains("text-anchor=\"end\""));
    let texts = texts.filter_map(|line| line.split(['<', '>']).nth(2));
    // Linear, then logarithmic.
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["0", "1", "2", "1", "2", "5", "10"]
    );
}

#[test]
fn pixels_show_the_distribution() {
    let png = Chart::new("test".into(), &[1, 20, 400, 8000, 3], true)
        .png()
        .unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (2 * SIZE.0, 2 * SIZE.1));
    let inked = |colour: Colour| {
        let [_, rgb @ ..] = colour.to_be_bytes();
        pixels.chunks(3).filter(|pixel| **pixel == rgb).count()
    };
    // The highest bar alone is some hundred pixels wide and high; text and marks are thin.
    assert!(inked(INK) > 50_000, "{}", inked(INK));
    assert!(inked(ACCENT) > 200 && inked(TEXT) > 200);
}

#[test]
fn the_format_follows_the_ending() {
    assert_eq!(ChartFormat::of(Path::new("a/b.SVG")), Ok(ChartFormat::Svg));
    assert_eq!(ChartFormat::of(Path::new("b.png")), Ok(ChartFormat::Png));
    let refused = ChartFormat::of(Path::new("b.pdf"));
    assert_eq!(refused, Err(ReportError::PlotFormat("b.pdf".into())));
}

#[test]
fn a_limited_search_is_titled_by_its_depth() {
    let chart = Chart::new("4x4".into(), &[1, 2, 4, 10], false);
    assert_eq!(chart.title(), "4x4: 17 states to depth 3");
    assert!(!chart.svg().contains("antipode"));
}

#[test]
fn both_panels_and_the_antipodes_are_drawn() {
    let counts: Vec<u64> = vec![1, 20, 400, 8000, 400, 20, 3];
    let svg = Chart::new("test".into(), &counts, true).svg();
    for text in [
        "Linear scale",
        "Logarithmic scale",
        "3 antipodes at depth 6",
        "mean 3.00",
    ] {
        assert!(svg.contains(text), "{text}");
    }
}
