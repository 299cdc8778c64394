//! The improvements that the papers propose. The name of an improvement is appended to a profile:
//! `gcc:draft-02+short-hold`.
//!
//! An improvement is a list of settings; the stages implement the settings. A new improvement is an
//! entry in [`ALL`].

use crate::profile::ImprovementError;

/// The settings that an improvement changes in a form, (name, value), or the reason why the
/// improvement does not apply to the form.
pub type Changes = Result<&'static [(&'static str, &'static str)], &'static str>;

/// A named improvement of Google Congestion Control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Improvement {
    /// The name that is appended to the name of a profile, after a `+`.
    pub name: &'static str,
    /// One line: what the improvement changes.
    pub summary: &'static str,
    /// Source of the proposal and of the values.
    pub source: &'static str,
    /// The settings in the published forms.
    pub published: Changes,
    /// The settings in the profiles as run.
    pub as_run: Changes,
    /// The settings in libwebrtc's form.
    pub libwebrtc: Changes,
}

/// Every improvement, in the order of the sources.
pub(crate) const ALL: &[Improvement] = &[
    Improvement {
        name: "short-hold",
        summary: "the state Hold ends after 500 ms, even if the queue is still draining",
        source: "Janczukowicz 2017 § 7.5.1, which gives no time. Weir's choice: 500 ms, the window \
                 of R, so that R is measured anew by then",
        published: Ok(&[("hold.longest", "500ms")]),
        as_run: Err("no setting limits the time in the state Hold"),
        libwebrtc: Ok(&[("hold.longest", "500ms")]),
    },
    Improvement {
        name: "hold-increase",
        summary: "the rate increases in the state Hold, by a quarter of the step of the state \
                  Increase",
        source: "Janczukowicz 2017 § 7.5.1, which asks for a very small increase, smaller than in \
                 Increase. Weir's choice: 0.25",
        published: Ok(&[("hold.increase", "0.25")]),
        as_run: Err("no setting changes the rate in the state Hold"),
        libwebrtc: Ok(&[("hold.increase", "0.25")]),
    },
    Improvement {
        name: "packet-groups",
        summary: "the delay gradient is estimated per group of packets, independently of the frame \
                  rate",
        source: "Janczukowicz 2017 § 7.5.1; the groups are those of draft-02 § 5.2",
        published: Ok(&[("grouping", "burst")]),
        as_run: Ok(&[("group.length", "5ms")]),
        libwebrtc: Ok(&[("group.length", "5ms")]),
    },
    Improvement {
        name: "aqm-alpha",
        summary: "the rate decreases less at over-use, for queues that keep the delay short \
                  themselves (AQM)",
        source: "Janczukowicz 2017 § 7.5.1, which gives no value. Weir's choice: 0.95, a third of \
                 the published decrease, about the increase of one second",
        published: Ok(&[("decrease", "0.95")]),
        as_run: Ok(&[("decrease", "0.95")]),
        libwebrtc: Ok(&[("aimd.decrease", "0.95")]),
    },
    Improvement {
        name: "aqm-loss",
        summary: "less sensitive to packet loss, for queues that drop a few packets continuously \
                  (AQM)",
        source: "Janczukowicz 2017 § 7.5.1, which gives no values. Weir's choice: the rate may \
                 increase up to 5 % loss, several times the mean of just over 1 % that FQ-CoDel \
                 has in § 7.2.3, and decreases above 15 %. libwebrtc's form already treats a few \
                 percent as inherent loss; there the loss that bounds the rate at once is also 5 % \
                 higher",
        published: Ok(&[("loss.low", "0.05"), ("loss.high", "0.15")]),
        as_run: Ok(&[("loss.low", "12"), ("loss.high", "38")]),
        libwebrtc: Ok(&[("loss.instant_offset", "0.1")]),
    },
    Improvement {
        name: "buffer-hint",
        summary: "the controller knows the smallest buffer on the path, and reacts to less packet \
                  loss if that buffer is short",
        source: "Janczukowicz 2017 § 7.5.1, § 7.5.2; the limit for a short buffer follows § 7.2.2",
        published: Ok(&[("hint.buffer", "path")]),
        as_run: Err("no setting gives the size of a buffer"),
        libwebrtc: Ok(&[("hint.buffer", "path")]),
    },
    Improvement {
        name: "dynamic-alpha",
        summary: "the decrease at over-use depends on how far the threshold was exceeded",
        source: "Jansen 2016 § 6.3, its reference 49; the formula is Weir's",
        published: Ok(&[("decrease.dynamic", "true")]),
        as_run: Err("no setting relates the decrease to the excess"),
        libwebrtc: Ok(&[("decrease.dynamic", "true")]),
    },
    Improvement {
        name: "outage-prefilter",
        summary: "packets that arrive together after an outage of the channel form one group",
        source: "Jansen 2016 § 6.3, Fig. 6-1, its reference 50; the rule is from draft-02 § 5.2",
        published: Ok(&[("prefilter", "true")]),
        as_run: Ok(&[("group.burst_gap", "5ms")]),
        libwebrtc: Ok(&[("group.burst_gap", "5ms")]),
    },
    Improvement {
        name: "fast-convergence",
        summary: "the multiplicative increase accelerates while it lasts; near convergence the \
                  increase is additive",
        source: "Guerrero Viveros 2019 § 7.1, § 7.2, which give no rule. Weir's choice: the \
                 exponent grows by 1 per second",
        published: Ok(&[("increase", "multiplicative-additive"), ("increase.acceleration", "1")]),
        as_run: Err("no setting accelerates the increase"),
        libwebrtc: Ok(&[("increase.acceleration", "1")]),
    },
];

/// The improvement with this name.
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
    fn every_improvement_applies_to_every_form_or_gives_a_reason() {
        for profile in profiles().iter().filter(|profile| profile.name.starts_with("gcc:")) {
            for improvement in ALL {
                let name = format!("{}+{}", profile.name, improvement.name);
                match improve(&profile.name, improvement.name) {
                    Ok(improved) => assert_eq!(improved, name),
                    Err(ImprovementError::Already(reason)) => {
                        assert!(reason.contains(improvement.name));
                    }
                    Err(ImprovementError::NotFor(reason)) => {
                        assert!(reason.contains("does not apply to"), "{reason}");
                        continue;
                    }
                    Err(error) => panic!("{name}: {error}"),
                }
                assert!(build(&config(&name, &[])).is_ok(), "{name}");
            }
        }
        assert!(ALL.iter().all(|one| one.source.contains('§') && !one.summary.is_empty()));
    }

    #[test]
    fn an_improvement_that_changes_no_constant_is_refused() {
        let already: Vec<(String, &str)> = profiles()
            .into_iter()
            .flat_map(|profile| {
                ALL.iter().map(move |improvement| (profile.name.clone(), improvement.name))
            })
            .filter(|(profile, name)| {
                matches!(improve(profile, name), Err(ImprovementError::Already(_)))
            })
            .collect();
        let as_run =
            ["chromium-2014", "chromium-2015", "chrome-47", "chrome-52", "firefox-48", "chrome-72"];
        let expected: Vec<_> = ["draft-02"]
            .into_iter()
            .chain(as_run)
            .chain(["libwebrtc"])
            .flat_map(|profile| {
                ["packet-groups", "outage-prefilter"].map(|name| (format!("gcc:{profile}"), name))
            })
            .collect();
        assert_eq!(already, expected);
        let twice = improve("gcc:draft-02+short-hold", "short-hold");
        let reason = "gcc:draft-02+short-hold already lists short-hold".to_owned();
        assert_eq!(twice, Err(ImprovementError::Already(reason)));
    }

    #[test]
    fn improvements_combine_and_the_file_overrides_them() {
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
    fn invalid_improvements_are_refused_with_a_reason() {
        let error = |profile: &str| build(&config(profile, &[])).err().unwrap().to_string();
        assert!(
            error("gcc:draft-02+fast").starts_with("no improvement 'fast'; there are short-hold,")
        );
        assert!(error("gcc:draft-02+").starts_with("no improvement ''; there are"));
        assert!(error("gcc:draft-02+aqm-loss+aqm-loss").contains("'aqm-loss' is listed twice"));
        assert!(error("gcc:none+aqm-loss").starts_with("no controller 'gcc:none'; there are"));
        assert!(error("none+aqm-loss").starts_with("no controller 'none'; there are"));
        for profile in ["fixed:1Mbit/s", "kilinc-andersson"] {
            let reason = format!(
                "improvement 'short-hold' does not apply to {profile}: only gcc profiles have \
                 improvements"
            );
            assert_eq!(error(&format!("{profile}+short-hold")), reason);
            assert_eq!(improve(profile, "short-hold"), Err(ImprovementError::NotFor(reason)));
        }
        let unknown = improve("kilinc-andersson", "none");
        assert!(matches!(unknown, Err(ImprovementError::Unknown(..))));
        let refused = build(&config("gcc:draft-02+short-hold", &[("hold.longest", "x")])).err();
        assert!(matches!(refused, Some(BuildError::Setting(_))));
    }
}
