//! Checks of the ranges of settings.

use crate::BuildError;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Refuses the first of these settings (name, value) that is not in the range. Not-a-number is in
/// no range.
pub(crate) fn within<T: PartialOrd + Display>(
    settings: &[(&str, T)],
    range: &RangeInclusive<T>,
) -> Result<(), BuildError> {
    let (least, most) = (range.start(), range.end());
    refuse(settings, |value| !range.contains(value), &format!("be between {least} and {most}"))
}

/// Refuses the first of these settings (name, value) that is less than `least`.
pub(crate) fn at_least<T: PartialOrd + Display>(
    settings: &[(&str, T)],
    least: &T,
) -> Result<(), BuildError> {
    refuse(settings, |value| value < least, &format!("be at least {least}"))
}

fn refuse<T: Display>(
    settings: &[(&str, T)],
    is_wrong: impl Fn(&T) -> bool,
    must: &str,
) -> Result<(), BuildError> {
    match settings.iter().find(|(_, value)| is_wrong(value)) {
        Some((name, value)) => {
            Err(BuildError::Invalid(format!("setting {name} = {value}: must {must}")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Duration};

    #[test]
    fn the_message_names_setting_value_and_range() {
        let text = |result: Result<(), BuildError>| result.map_err(|error| error.to_string());
        let gains = [("a", 0.5), ("b", 1.5), ("c", 2.0)];
        let expected = "setting b = 1.5: must be between 0 and 1".to_owned();
        assert_eq!(text(within(&gains, &(0.0..=1.0))), Err(expected));
        assert!(within(&[("nan", f64::NAN)], &(0.0..=1.0)).is_err());
        assert_eq!(
            text(within(&[("mss", Bytes::new(1))], &(Bytes::new(1)..=Bytes::new(9)))),
            Ok(())
        );
        let short = at_least(&[("t", Duration::ZERO)], &Duration::from_millis(1));
        assert_eq!(text(short), Err("setting t = 0s: must be at least 1ms".to_owned()));
    }
}
