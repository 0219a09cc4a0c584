//! The depth distribution as a text table with bars.

use super::thousands;

/// Cells of the longest bar: the table then stays within 80 columns for every board up to 16 cells.
const BAR: u64 = 36;

/// Returns the title of a distribution, for example `3x4: 239,500,800 states, diameter 53`; where it is not
/// complete, its last depth is no diameter.
pub(super) fn title(name: &str, counts: &[u64], complete: bool) -> String {
    let total = counts.iter().sum();
    let states = thousands(total);
    let plural = if total == 1 { "" } else { "s" };
    let last = counts.len().saturating_sub(1);
    let ending = if complete {
        format!(", diameter {last}")
    } else {
        format!(" to depth {last}")
    };
    format!("{name}: {states} state{plural}{ending}")
}

/// Returns the table of a depth distribution: depth, states, cumulative share of `total` and a bar
/// that is proportional to the states.
///
/// The share is rounded down, so that 100 stands only where every state has been reached.
///
/// ```
/// let table = tilewave::report::histogram(&[1, 2, 2, 2, 2, 2, 1], 12);
/// assert_eq!(table.lines().count(), 8);
/// assert!(table.lines().nth(1).unwrap().starts_with("    0       1      8.3333 %"));
/// ```
pub fn histogram(counts: &[u64], total: u64) -> String {
    let largest = counts.iter().copied().max().unwrap_or(0);
    let width = thousands(largest).len().max("states".len());
    let mut table = format!(
        "{:>5}  {:>width$}  {:>12}\n",
        "depth", "states", "cumulative"
    );
    let mut cumulative = 0;
    for (depth, &count) in counts.iter().enumerate() {
        cumulative += count;
        let line = format!(
            "{depth:>5}  {:>width$}  {:>10} %  {}",
            thousands(count),
            share(cumulative, total),
            bar(count, largest),
        );
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// `part` of `whole` in percent, four decimals, rounded down.
pub(super) fn share(part: u64, whole: u64) -> String {
    let units = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
    format!("{}.{:04}", units / 10_000, units % 10_000)
}

/// A bar of `count` against `largest`, in eighths of a cell. Any state at all shows.
fn bar(count: u64, largest: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(count) * u128::from(8 * BAR) / u128::from(largest.max(1));
    let eighths = if count > 0 {
        eighths.max(1) as usize
    } else {
        0
    };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
