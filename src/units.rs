//! Human-readable numbers with units.

/// Returns a number with commas between thousands.
///
/// ```
/// assert_eq!(tilewave::report::thousands(239_500_800), "239,500,800");
/// ```
pub fn thousands(number: u64) -> String {
    grouped(&number.to_string())
}

/// Returns the digits of a number in groups of three.
pub fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with its noun, in the plural unless the number is 1.
///
/// ```
/// use tilewave::report::counted;
/// assert_eq!((counted(1, "move"), counted(2_000, "entry")), ("1 move".into(), "2,000 entries".into()));
/// ```
pub fn counted(number: u64, noun: &str) -> String {
    let all = thousands(number);
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{all} {stem}ies"),
        (_, None) => format!("{all} {noun}s"),
    }
}

/// Returns a number of bytes in binary units, with three significant digits. A round decimal number,
/// such as a limit that a person has chosen, stays as it is.
///
/// ```
/// assert_eq!(tilewave::report::bytes(7_025_000_000), "6.54 GiB");
/// assert_eq!(tilewave::report::bytes(1_500_000_000), "1.5 GB");
/// assert_eq!(tilewave::report::bytes(512), "512 B");
/// ```
pub fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // At most three digits, then zeros down to the bytes.
    let digits = bytes.to_string();
    if digits.len() > 3 && digits.trim_end_matches('0').len() <= 3 {
        let unit = ["", "kB", "MB", "GB", "TB", "PB", "EB"][(digits.len() - 1) / 3];
        let before = (digits.len() - 1) % 3 + 1;
        let after = digits[before..3].trim_end_matches('0');
        let point = if after.is_empty() { "" } else { "." };
        return format!("{}{point}{after} {unit}", &digits[..before]);
    }
    binary_bytes(bytes)
}

/// Returns a number of bytes in binary units, as [`bytes`], also where it is round: for a column of sizes.
pub fn binary_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 999.5 and more would be written with four digits.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", significant(value), UNITS[unit])
}

/// Returns a field of a line of CSV, in quotes if it has to be.
pub fn csv_field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

/// Returns a duration in a suitable unit.
///
/// ```
/// use tilewave::report::duration;
/// assert_eq!(duration(0.000_25), "0.250 ms");
/// assert_eq!(duration(0.348), "0.348 s");
/// assert_eq!(duration(74.6), "1 min 15 s");
/// assert_eq!(duration(7_260.0), "2 h 01 min");
/// assert_eq!(duration(2_000_000.0), "23.1 days");
/// ```
pub fn duration(seconds: f64) -> String {
    if seconds < 0.1 {
        return format!("{} ms", significant(seconds * 1e3));
    }
    if seconds < 59.95 {
        return format!("{} s", significant(seconds));
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        return format!("{} min {:02} s", whole / 60, whole % 60);
    }
    let minutes = (seconds / 60.0).round() as u64;
    if minutes < 48 * 60 {
        return format!("{} h {:02} min", minutes / 60, minutes % 60);
    }
    format!("{} days", significant(seconds / 86_400.0))
}

/// Returns a rate per second without a noun: `612 M` for 612 million.
///
/// ```
/// assert_eq!(tilewave::report::rate(612_345_678.0), "612 M");
/// ```
pub fn rate(per_second: f64) -> String {
    let scales = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    // The factor keeps 999.6 k from being written with four digits.
    let scale = scales.into_iter().find(|(size, _)| per_second >= size * 0.9995);
    let (size, unit) = scale.unwrap_or((1.0, ""));
    format!("{}{unit}", significant(per_second / size))
}

/// Three significant digits without an exponent.
fn significant(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.9995 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

// Enums whose values have names on the command line and in reports.

/// Gives an enum everything that follows from its names: the list of names, with old ones after a bar and a description
/// of each value, and the display form.
macro_rules! names {
    ($type:ident: $($name:literal $(| $old:literal)* = $value:ident, $about:literal;)+) => {
        impl $type {
            /// All values.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];
            /// Each value with its names, the current name first, and a description.
            pub const NAMES: &'static [(&'static [&'static str], $type, &'static str)] =
                &[$((&[$name $(, $old)*], $type::$value, $about)),+];

            /// Returns the name used on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use names;

// User-supplied text in error messages.

/// Returns the beginning of a text, with at most `most` characters. Control characters are escaped, so that they have
/// no effect on a terminal.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for c in text.chars().take(most) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

/// Returns the number that a word of digits alone represents.
pub(crate) fn digits<T: std::str::FromStr>(word: &str) -> Option<T> {
    word.parse().ok().filter(|_| word.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns texts or numbers with a separator between them.
pub(crate) fn joined<T: ToString>(parts: impl IntoIterator<Item = T>, by: &str) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(by)
}

/// Returns the number at the beginning of a text and the word that follows it.
pub fn parts(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit.trim()))
}

/// Returns the number of bytes given by a size with a unit: decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB, TiB, and
/// also K, M, G, T alone, as in other programs). `Gb` means bits and is rejected.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "'{text}' is not a size: write a number and a unit, for example 8GiB (or 8G) or 500MB"
        )
    };
    let (number, unit) = parts(text).ok_or_else(wrong)?;
    if matches!(unit, "Kb" | "Mb" | "Gb" | "Tb" | "Kib" | "Mib" | "Gib" | "Tib") {
        let byte = unit.replace('b', "B");
        return Err(format!("'{text}' means bits: write {number}{byte} if you mean bytes"));
    }
    let unit = unit.to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" if unit == "b" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(wrong()),
    };
    let scale = match &unit[unit.len().min(1)..] {
        "b" => 1000f64,
        "" | "ib" => 1024f64,
        _ => return Err(wrong()),
    };
    let bytes = number * scale.powi(power);
    // 2^63 is more than any machine has, and still exact enough as a float.
    if bytes < 9.2e18 { Ok(bytes as u64) } else { Err(wrong()) }
}
