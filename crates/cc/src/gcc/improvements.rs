//! The improvements that the papers end with, each a name that is appended to a profile:
//! `gcc:draft-02+short-hold`.
//!
//! An improvement is the settings that it changes; what they do is in the stages. Adding one is an
//! entry in [`ALL`].

use std::fmt;

/// The settings that an improvement changes in a form, (name, value), or why that form cannot have
/// it.
pub type Changes = Result<&'static [(&'static str, &'static str)], &'static str>;

/// A named improvement of Google Congestion Control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Improvement {
    /// The name that is appended to a profile's, after a `+`.
    pub name: &'static str,
    /// One line: what it changes.
    pub summary: &'static str,
    /// Who proposed it and where, and where its values are from.
    pub source: &'static str,
    /// What it sets in the published forms.
    pub published: Changes,
    /// What it sets in libwebrtc's form.
    pub libwebrtc: Changes,
}

/// Every improvement, in the order of their sources.
pub(crate) const ALL: &[Improvement] = &[
    Improvement {
        name: "short-hold",
        summary: "the state Hold ends after half a second, even if the queue still drains",
        source: "Janczukowicz 2017 § 7.5.1, which gives no time; chosen here: 500 ms, the window of R, which is new by then",
        published: Ok(&[("hold.longest", "500ms")]),
        libwebrtc: Ok(&[("hold.longest", "500ms")]),
    },
    Improvement {
        name: "hold-increase",
        summary: "in the state Hold the rate grows a little, by a quarter of the step of Increase",
        source: "Janczukowicz 2017 § 7.5.1, which says very small and smaller than in Increase; chosen here: 0.25",
        published: Ok(&[("hold.increase", "0.25")]),
        libwebrtc: Ok(&[("hold.increase", "0.25")]),
    },
    Improvement {
        name: "packet-groups",
        summary: "the delay gradient is estimated for groups of packets, whatever the frame rate",
        source: "Janczukowicz 2017 § 7.5.1; the groups are those of draft-02 § 5.2",
        published: Ok(&[("grouping", "burst")]),
        libwebrtc: Ok(&[("group.length", "5ms")]),
    },
    Improvement {
        name: "aqm-alpha",
        summary: "a smaller fall at over-use, where the queue keeps delays short by itself",
        source: "Janczukowicz 2017 § 7.5.1, which gives no value; chosen here: 0.95, a third of the fall, which the next second's growth makes up for",
        published: Ok(&[("decrease", "0.95")]),
        libwebrtc: Ok(&[("aimd.decrease", "0.95")]),
    },
    Improvement {
        name: "aqm-loss",
        summary: "less sensitive to loss, where the queue drops a few packets all the time",
        source: "Janczukowicz 2017 § 7.5.1, which gives no values; chosen here: loss of 5 %, several times the mean of just over 1 % that FQ-CoDel has in § 7.2.3, is no reason not to rise, and a fall begins at 15 %; libwebrtc's form takes a few percent for the path's own as it is, and the loss that bounds its rate at once is 5 % more too",
        published: Ok(&[("loss.low", "0.05"), ("loss.high", "0.15")]),
        libwebrtc: Ok(&[("loss.instant_offset", "0.1")]),
    },
    Improvement {
        name: "buffer-hint",
        summary: "told the smallest buffer on the path, it reacts to less loss where that is short",
        source: "Janczukowicz 2017 § 7.5.1, § 7.5.2; the time that is short is from § 7.2.2",
        published: Ok(&[("hint.buffer", "path")]),
        libwebrtc: Ok(&[("hint.buffer", "path")]),
    },
    Improvement {
        name: "dynamic-alpha",
        summary: "the fall at over-use follows how far the threshold was exceeded",
        source: "Jansen 2016 § 6.3, its reference [49]; the formula is ours",
        published: Ok(&[("decrease.dynamic", "true")]),
        libwebrtc: Ok(&[("decrease.dynamic", "true")]),
    },
    Improvement {
        name: "outage-prefilter",
        summary: "what an outage of the channel pushed together is one group",
        source: "Jansen 2016 § 6.3, Fig. 6-1, its reference [50]; the rule is that of draft-02 § 5.2",
        published: Ok(&[("prefilter", "true")]),
        libwebrtc: Ok(&[("group.burst_gap", "5ms")]),
    },
    Improvement {
        name: "fast-convergence",
        summary: "the multiplicative increase becomes faster while it lasts; near convergence it is additive",
        source: "Guerrero Viveros 2019 § 7.1, § 7.2, which leave the law open; chosen here: the exponent grows by 1 a second",
        published: Ok(&[("increase", "multiplicative-additive"), ("increase.acceleration", "1")]),
        libwebrtc: Ok(&[("increase.acceleration", "1")]),
    },
];

/// Why a profile cannot have an improvement, or need not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImprovementError {
    /// There is none of this name; the names that there are.
    Unknown(String, Vec<&'static str>),
    /// The profile cannot have it: why.
    NotFor(String),
    /// The profile is so already: by its own constants, or because it names it.
    Already(String),
}

impl fmt::Display for ImprovementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name, known) => {
                write!(f, "no improvement '{name}'; there are {}", known.join(", "))
            }
            Self::NotFor(reason) | Self::Already(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ImprovementError {}

/// The improvement of this name.
pub(crate) fn named(name: &str) -> Result<&'static Improvement, ImprovementError> {
    let found = ALL.iter().find(|improvement| improvement.name == name);
    let known = || ALL.iter().map(|improvement| improvement.name).collect();
    found.ok_or_else(|| ImprovementError::Unknown(name.to_owned(), known()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildError, ControllerConfig, build, improve, profiles, settings_of};
    use units::Bitrate;

    fn config(profile: &str, settings: &[(&str, &str)]) -> ControllerConfig {
        let rate = Bitrate::from_mbps(1);
        let settings =
            settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let profile = profile.to_owned();
        ControllerConfig { profile, settings, start_rate: rate, min_rate: rate, max_rate: rate }
    }

    fn setting(profile: &str, settings: &[(&str, &str)], name: &str) -> String {
        let all = settings_of(&config(profile, settings)).unwrap();
        all.into_iter().find(|setting| setting.name == name).unwrap().value
    }

    #[test]
    fn every_improvement_is_of_every_form_or_says_why_not() {
        for profile in profiles().iter().filter(|profile| profile.name.starts_with("gcc:")) {
            for improvement in ALL {
                let name = format!("{}+{}", profile.name, improvement.name);
                match improve(&profile.name, improvement.name) {
                    Ok(improved) => assert_eq!(improved, name),
                    Err(ImprovementError::Already(reason)) => {
                        assert!(reason.contains(improvement.name));
                    }
                    Err(error) => panic!("{name}: {error}"),
                }
                assert!(build(&config(&name, &[])).is_ok(), "{name}");
            }
        }
        assert!(ALL.iter().all(|one| one.source.contains('§') && !one.summary.is_empty()));
    }

    #[test]
    fn what_a_profile_is_already_follows_from_its_constants() {
        let already: Vec<(String, &str)> = profiles()
            .into_iter()
            .flat_map(|profile| {
                ALL.iter().map(move |improvement| (profile.name.clone(), improvement.name))
            })
            .filter(|(profile, name)| {
                matches!(improve(profile, name), Err(ImprovementError::Already(_)))
            })
            .collect();
        let expected = [
            ("gcc:draft-02", "packet-groups"),
            ("gcc:draft-02", "outage-prefilter"),
            ("gcc:libwebrtc", "packet-groups"),
            ("gcc:libwebrtc", "outage-prefilter"),
        ];
        assert_eq!(already, expected.map(|(profile, name)| (profile.to_owned(), name)));
        let twice = improve("gcc:draft-02+short-hold", "short-hold");
        let reason = "gcc:draft-02+short-hold names short-hold already".to_owned();
        assert_eq!(twice, Err(ImprovementError::Already(reason)));
    }

    #[test]
    fn improvements_add_up_and_the_file_has_the_last_word() {
        let improved = "gcc:jansen-2016+short-hold+aqm-loss";
        assert_eq!(setting(improved, &[], "hold.longest"), "500ms");
        assert_eq!(setting(improved, &[], "loss.low"), "0.05");
        assert_eq!(setting(improved, &[("loss.low", "0.03")], "loss.low"), "0.03");
        assert_eq!(setting("gcc:libwebrtc+aqm-alpha", &[], "aimd.decrease"), "0.95");
        assert_eq!(
            setting("gcc:carlucci-2017+fast-convergence", &[], "increase"),
            "multiplicative-additive"
        );
        let both = improve("gcc:draft-02+short-hold", "aqm-loss");
        assert_eq!(both.unwrap(), "gcc:draft-02+short-hold+aqm-loss");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        let error = |profile: &str| build(&config(profile, &[])).err().unwrap().to_string();
        assert!(
            error("gcc:draft-02+fast").starts_with("no improvement 'fast'; there are short-hold,")
        );
        assert!(error("gcc:draft-02+").starts_with("no improvement ''; there are"));
        assert!(error("gcc:draft-02+aqm-loss+aqm-loss").contains("aqm-loss is given twice"));
        assert!(error("gcc:none+aqm-loss").starts_with("no controller 'gcc:none'; there are"));
        assert!(error("none+aqm-loss").starts_with("no controller 'none'; there are"));
        for profile in ["fixed:1Mbit/s", "kilinc-andersson"] {
            let reason = format!("short-hold is not for {profile}: improvements are of gcc alone");
            assert_eq!(error(&format!("{profile}+short-hold")), reason);
            assert_eq!(improve(profile, "short-hold"), Err(ImprovementError::NotFor(reason)));
        }
        let unknown = improve("kilinc-andersson", "none");
        assert!(matches!(unknown, Err(ImprovementError::Unknown(..))));
        let refused = build(&config("gcc:draft-02+short-hold", &[("hold.longest", "x")])).err();
        assert!(matches!(refused, Some(BuildError::Setting(_))));
    }
}
