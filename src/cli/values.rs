//! Words of the command line and what they stand for. Every error says what was written and what to write.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value, its names, and what to say of it: the one way to offer an enum of the library as an option. Former
/// names follow the present one.
pub type Choice<T> = (&'static [&'static str], T, &'static str);

/// Returns the parser of a list of names.
pub fn choice<T>(all: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let value = |(names, _, help): &Choice<T>| {
        PossibleValue::new(names[0])
            .aliases(&names[1..])
            .help(*help)
    };
    PossibleValuesParser::new(all.iter().map(value)).try_map(|word| {
        let found = all
            .iter()
            .find(|(names, ..)| names.contains(&word.as_str()));
        found
            .map(|(_, value, _)| value.clone())
            .ok_or("no such value")
    })
}

/// Returns the parser of whole numbers within bounds.
pub fn whole<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(format!(
            "'{text}' is not a whole number from {least} to {most}"
        )),
    }
}

/// Returns the parser of counts: whole numbers from 0.
pub fn count<T>() -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr,
{
    |text| {
        let wrong = || format!("'{text}' is not a whole number from 0");
        text.parse().map_err(|_| wrong())
    }
}

/// A number and the word behind it.
fn parts(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit.trim()))
}

/// Returns the bytes that a size with a unit stands for: decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB,
/// TiB, and K, M, G, T alone, as other programs read them). `Gb` says bits and is refused.
pub fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "'{text}' is not a size: write a number and a unit, for example 8GiB (or 8G) or 500MB"
        )
    };
    let (number, unit) = parts(text).ok_or_else(wrong)?;
    if matches!(
        unit,
        "Kb" | "Mb" | "Gb" | "Tb" | "Kib" | "Mib" | "Gib" | "Tib"
    ) {
        let byte = unit.replace('b', "B");
        return Err(format!(
            "'{text}' says bits: write {number}{byte} if you mean bytes"
        ));
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
    if bytes < 9.2e18 {
        Ok(bytes as u64)
    } else {
        Err(wrong())
    }
}

/// Returns the bytes a second that `5GB/s` stands for; `5Gb/s` and `5Gbit/s` are bits, an eighth of that.
pub fn bandwidth(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "'{text}' is not a bandwidth: write bytes a second, for example 5GB/s, or bits, 40Gb/s"
        )
    };
    let size = text.strip_suffix("/s").ok_or_else(wrong)?;
    let bits = size.strip_suffix("bit").or(size.strip_suffix('b'));
    let rate = match bits {
        Some(number) => bytes(&format!("{number}B")).map(|bits| bits / 8),
        None => bytes(size),
    };
    rate.ok().filter(|&rate| rate > 0).ok_or_else(wrong)
}

/// Returns the time that a number with a unit stands for: ms, s, min, h; 0 needs no unit.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("'{text}' is not a time: write a number and a unit, for example 10s or 2min");
    let (number, unit) = parts(text).ok_or_else(wrong)?;
    let seconds = match unit {
        "" if number == 0.0 => 0.0,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

#[cfg(test)]
#[path = "../../tests/unit/values.rs"]
mod tests;
