//! Every quantity prints in a form that parses back exactly. Texts that are not quantities are
//! refused with an error that gives examples.

use proptest::prelude::*;
use units::{Bitrate, Bytes, Dbm, Decibels, Duration, Frequency, Metres, Ratio, Speed, Time};

proptest! {
    #[test]
    fn prints_and_reads_back(value in any::<u64>(), parts in 0u32..=1_000_000_000) {
        let rate = Bitrate::from_bps(value);
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        let size = Bytes::new(value);
        prop_assert_eq!(size.to_string().parse(), Ok(size));
        let span = Duration::from_nanos(value);
        prop_assert_eq!(span.to_string().parse(), Ok(span));
        let ratio = Ratio::from_f64(f64::from(parts) / 1e9);
        prop_assert_eq!(ratio.to_string().parse(), Ok(ratio));
    }

    #[test]
    fn radio_quantities_print_and_parse_back(thousandths in -1_000_000i32..=1_000_000, value in any::<u32>()) {
        let real = f64::from(thousandths) / 1e3;
        let (gain, power) = (Decibels::from_f64(real), Dbm::from_f64(real));
        prop_assert_eq!(gain.to_string().parse(), Ok(gain));
        prop_assert_eq!(power.to_string().parse(), Ok(power));
        let distance: Metres = format!("{value}mm").parse().unwrap();
        prop_assert_eq!(distance.to_string().parse(), Ok(distance));
        let speed: Speed = format!("{value}m/h").parse().unwrap();
        prop_assert_eq!(speed.to_string().parse(), Ok(speed));
        let frequency: Frequency = format!("{value}Hz").parse().unwrap();
        prop_assert_eq!(frequency.to_string().parse(), Ok(frequency));
    }

    #[test]
    fn sending_and_counting_agree(bps in 1u64..10_000_000_000, bytes in 0u64..10_000_000) {
        let rate = Bitrate::from_bps(bps);
        let span = rate.time_to_send(Bytes::new(bytes)).unwrap();
        prop_assert!(rate.bytes_in(span).get() >= bytes);
    }
}

#[test]
fn reads_what_people_write() {
    assert_eq!("1.5Mbit/s".parse(), Ok(Bitrate::from_kbps(1500)));
    assert_eq!("500 kbit".parse(), Ok(Bitrate::from_kbps(500)));
    assert_eq!("25ms".parse(), Ok(Duration::from_millis(25)));
    assert_eq!("0.5ms".parse(), Ok(Duration::from_micros(500)));
    assert_eq!("125kB".parse(), Ok(Bytes::new(125_000)));
    assert_eq!("7.5%".parse(), Ok(Ratio::from_f64(0.075)));
    assert_eq!("0s".parse(), Ok(Time::ZERO));
    assert_eq!("1.8GHz".parse(), Ok(Frequency::from_mhz(1_800)));
    assert_eq!("30km/h".parse(), Ok(Speed::from_kmh(30)));
    assert!(("10m/s".parse::<Speed>().unwrap().as_metres_per_second() - 10.0).abs() < 1e-12);
    assert!("30".parse::<Speed>().is_err() && "2 GHertz".parse::<Frequency>().is_err());
    assert_eq!(
        "0".parse::<Bitrate>().unwrap_err().to_string(),
        "'0' is not a rate such as 500kbit/s or 1.5Mbit/s"
    );
}

#[test]
fn refuses_nonsense() {
    for text in
        ["", "s", "-1s", "1.2.3s", "1e3s", "5 parsecs", "0.1ns", "99999999999999999999999999s"]
    {
        assert!(text.parse::<Duration>().is_err(), "{text}");
    }
    for text in ["101%", "1.5", "-5%", "%", "1", "0.05", "5 s", "5 %%"] {
        assert!(text.parse::<Ratio>().is_err(), "{text}");
    }
    for number in [-0.1, 1.5, 1e-10, f64::NAN, f64::INFINITY] {
        assert!(Ratio::try_from(number).is_err(), "{number}");
    }
    assert_eq!(Ratio::try_from(0.05), "5 %".parse());
}

#[test]
fn a_long_text_is_cut_in_the_message() {
    let message = "x".repeat(500_000).parse::<Bitrate>().unwrap_err().to_string();
    let shown = format!("'{}… (500kB)' is not a rate", "x".repeat(60));
    assert!(message.starts_with(&shown), "{message}");
}

#[test]
fn zero_means_never() {
    assert_eq!(Bitrate::ZERO.time_to_send(Bytes::new(1)), None);
    assert_eq!(Bytes::new(1).per(Duration::ZERO), None);
}
