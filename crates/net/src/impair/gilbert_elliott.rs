//! Random loss in bursts.

use units::{Ratio, Stream};

/// Two states, good and bad, each with its own loss probability; the state may change at each
/// packet (Gilbert 1960, Elliott 1963). The state after the change decides about the packet. In tc
/// netem (`loss_gilb_ell`) the state before it decides, which shifts the same sequence of states by
/// one packet.
pub(crate) struct GilbertElliott {
    pub(crate) p: Ratio,
    pub(crate) r: Ratio,
    pub(crate) bad_loss: Ratio,
    pub(crate) good_loss: Ratio,
    pub(crate) bad: bool,
    pub(crate) random: Stream,
}

impl GilbertElliott {
    pub(crate) fn loses(&mut self) -> bool {
        let leave = if self.bad { self.r } else { self.p };
        self.bad ^= self.random.chance(leave.as_f64());
        let loss = if self.bad { self.bad_loss } else { self.good_loss };
        self.random.chance(loss.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn losses(bad_loss: Ratio, good_loss: Ratio) -> Vec<bool> {
        let (p, r) = (Ratio::from_percent(1), Ratio::from_percent(25));
        let random = Seed(1).stream("loss");
        let mut loss = GilbertElliott { p, r, bad_loss, good_loss, bad: false, random };
        (0..400_000).map(|_| loss.loses()).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn bursts_have_the_mean_length_of_one_over_r() {
        let losses = losses(Ratio::ONE, Ratio::ZERO);
        let expected = 0.01 / (0.01 + 0.25);
        assert!((share(&losses) - expected).abs() < 0.002, "{}", share(&losses));
        let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = losses.iter().filter(|&&lost| lost).count() as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.15, "{length}");
    }

    #[test]
    fn each_state_has_its_own_loss_probability() {
        let losses = losses(Ratio::from_percent(50), Ratio::from_percent(2));
        let bad = 0.01 / (0.01 + 0.25);
        let expected = bad * 0.5 + (1.0 - bad) * 0.02;
        assert!((share(&losses) - expected).abs() < 0.002, "{}", share(&losses));
    }
}
