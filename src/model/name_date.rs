//! Recognises dates in file names and titles.

/// A date at the start of a name or a title.
pub struct NameDate {
    /// The date with dashes: `2026-01-25`, or `2026-01` without a day.
    pub date: String,
    /// The time after the date, such as `0200Z`.
    pub time: Option<String>,
    /// Length of date and time in the name, in bytes.
    pub length: usize,
}

/// Recognises `2026-01-25`, `2026_01_25`, `20260125`, `2026-01` and `202601` at the start of a
/// name, the time in `2026-01-25T0200Z`, and `25-january-2026`. A date ends where the name or its next
/// word ends.
pub fn at_start(stem: &str) -> Option<NameDate> {
    written_out(stem).or_else(|| in_digits(stem))
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Recognises `25-january-2026` and `25-jan-2026`.
fn written_out(stem: &str) -> Option<NameDate> {
    let mut parts = stem.splitn(4, ['-', '_', ' ', '.']);
    let (day, name, year) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let day_number = day.parse::<u32>().ok().filter(|day| (1..=31).contains(day))?;
    let name = name.to_lowercase();
    let month = MONTHS.iter().position(|month| name.starts_with(month))? + 1;
    let is_year = year.len() == 4 && is_number(year) && year.starts_with(['1', '2']);
    (day.len() <= 2 && is_year).then(|| NameDate {
        date: format!("{year}-{month:02}-{day_number:02}"),
        time: None,
        length: day.len() + name.len() + year.len() + 2,
    })
}

fn in_digits(stem: &str) -> Option<NameDate> {
    let bytes = stem.as_bytes();
    let number = |range: std::ops::Range<usize>| -> Option<u32> {
        let digits = bytes.get(range).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    let is_month = |at: usize| number(at..at + 2).is_some_and(|month| (1..=12).contains(&month));
    let is_day = |at: usize| number(at..at + 2).is_some_and(|day| (1..=31).contains(&day));
    let separates = |at: usize| matches!(bytes.get(at), Some(b'-' | b'_' | b'.'));
    number(0..4).filter(|year| (1900..2100).contains(year))?;
    let (date, mut length) = if separates(4) && is_month(5) && separates(7) && is_day(8) {
        (format!("{}-{}-{}", &stem[..4], &stem[5..7], &stem[8..10]), 10)
    } else if is_month(4) && is_day(6) {
        (format!("{}-{}-{}", &stem[..4], &stem[4..6], &stem[6..8]), 8)
    } else if is_month(4) && number(4..7).is_none() {
        (format!("{}-{}", &stem[..4], &stem[4..6]), 6)
    } else if bytes.get(4) == Some(&b'-') && is_month(5) && number(5..8).is_none() {
        (format!("{}-{}", &stem[..4], &stem[5..7]), 7)
    } else {
        return None;
    };
    let mut time = None;
    if bytes.get(length) == Some(&b'T') && number(length + 1..length + 5).is_some() {
        let zone = usize::from(bytes.get(length + 5) == Some(&b'Z'));
        time = Some(stem[length + 1..length + 5 + zone].to_string());
        length += 5 + zone;
    }
    let ends = bytes.get(length).is_none_or(|b| matches!(b, b'-' | b'_' | b' ' | b'.'));
    ends.then_some(NameDate { date, time, length })
}
