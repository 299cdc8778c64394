//! The positions of sites and terminals, and the gain between a terminal and each cell without fast
//! fading.

use super::config::{Layout, LteConfig, LteTerminal, Start};
use units::{Seed, Stream};

/// The smallest loss between a terminal and a cell with antennas, in decibels (36.942 § 4.5.2,
/// minimum coupling loss, urban).
const MIN_LOSS: f64 = 70.0;
/// The smallest distance of a terminal to a site, in metres (25.814 table A.2.1.1-3).
const NEAREST: f64 = 35.0;
/// The 3 dB beam width of an antenna of three sectors, in degrees (36.942 § 4.2.1).
const HALF_POWER: f64 = 70.0;
/// The front-to-back ratio of the antenna, in decibels (36.942 § 4.2.1).
const FRONT_TO_BACK: f64 = 20.0;
/// The share of the variance of shadowing that is common to all sites (25.814 table A.2.1.1-3: a
/// correlation of 0.5 between sites).
const COMMON: f64 = 0.5;

/// A point or a vector on the map, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

impl Point {
    fn less(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }

    fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }
}

/// The map of a network.
pub(super) struct Map {
    sites: Vec<Point>,
    sectors: usize,
    /// The offsets to the images of the network that surround it (wrap-around); the first is zero.
    images: Vec<Point>,
    /// The loss at a metre with the penetration loss, and ten times the exponent, in decibels.
    at_a_metre: f64,
    slope: f64,
    antenna_gain: f64,
    /// The deviation of shadowing in decibels and its distance in metres.
    shadowing: f64,
    distance: f64,
}

impl Map {
    pub(super) fn new(config: &LteConfig) -> Self {
        let origin = Point { x: 0.0, y: 0.0 };
        let (sites, sectors, images) = match config.layout {
            Layout::Single => (vec![origin], 1, vec![origin]),
            Layout::Hexagonal { inter_site_distance, sectors } => {
                let distance = inter_site_distance.as_f64();
                // One site with six around it. The next clusters of seven are √7 distances away
                // (25.942 § 5.1.3), at the angle of 2a + b.
                let around = |radius: f64, first: f64| {
                    (0..6).map(move |sixth| {
                        let angle = first + std::f64::consts::FRAC_PI_3 * f64::from(sixth);
                        Point { x: radius * libm::cos(angle), y: radius * libm::sin(angle) }
                    })
                };
                let turn = libm::atan2(3.0_f64.sqrt() / 2.0, 2.5);
                let sites = std::iter::once(origin).chain(around(distance, 0.0));
                let images = std::iter::once(origin).chain(around(distance * 7.0_f64.sqrt(), turn));
                (sites.collect(), usize::from(sectors), images.collect())
            }
        };
        let loss = config.path_loss;
        let slope = 10.0 * loss.exponent;
        let at_a_metre = loss.at_a_kilometre.as_f64() - 3.0 * slope + loss.penetration.as_f64();
        Self {
            sites,
            sectors,
            images,
            at_a_metre,
            slope,
            antenna_gain: config.antenna_gain.as_f64(),
            shadowing: config.shadowing.deviation.as_f64(),
            distance: config.shadowing.distance.as_f64(),
        }
    }

    /// The point within the network that this point is the image of.
    fn within(&self, mut point: Point) -> Point {
        for _ in 0..2 {
            for image in &self.images[1..] {
                let moved = point.less(*image);
                if moved.length() < point.length() {
                    point = moved;
                }
            }
        }
        point
    }

    /// The shortest vector from a site to a point or one of its images.
    fn way(&self, site: Point, point: Point) -> Point {
        let direct = point.less(site);
        let ways = self.images.iter().map(|image| direct.less(*image));
        ways.fold(direct, |best, way| if way.length() < best.length() { way } else { best })
    }

    /// A uniformly distributed point, not too close to a site.
    fn anywhere(&self, random: &mut Stream) -> Point {
        let radius = self.images.iter().map(|image| image.length()).fold(0.0, f64::max);
        loop {
            let mut draw = || (2.0 * random.uniform() - 1.0) * radius;
            let point = Point { x: draw(), y: draw() };
            let inside = self.within(point) == point;
            if inside && self.sites.iter().all(|site| self.way(*site, point).length() >= NEAREST) {
                return point;
            }
        }
    }

    /// The attenuation of a sector's antenna in that direction, in decibels.
    fn pattern(&self, sector: usize, way: Point) -> f64 {
        if self.sectors == 1 {
            return 0.0;
        }
        // A site is at the corner of its three hexagons, so each antenna points at a site of the
        // first ring.
        let main = 360.0 / self.sectors as f64 * sector as f64;
        let off = libm::atan2(way.y, way.x).to_degrees() - main;
        let off = off - 360.0 * (off / 360.0).round();
        (12.0 * (off / HALF_POWER) * (off / HALF_POWER)).min(FRONT_TO_BACK)
    }
}

/// The position of a terminal, with its shadowing and gains.
pub(super) struct Position {
    point: Point,
    /// The movement between two updates.
    step: Point,
    obstacles: f64,
    /// Shadowing, standard normal: the component common to all sites, and that of each site.
    common: f64,
    own: Vec<f64>,
    /// The correlation ρ of shadowing over a step, and √(1 − ρ²).
    correlation: f64,
    innovation: f64,
    random: Stream,
    /// The gain to each cell with antennas, as a ratio of powers.
    pub(super) gains: Vec<f64>,
}

impl Position {
    /// `interval` is the time between two updates in seconds.
    pub(super) fn new(
        map: &Map,
        terminal: &LteTerminal,
        interval: f64,
        seed: Seed,
        name: &str,
    ) -> Self {
        let mut random = seed.stream(&format!("{name}.place"));
        let length = terminal.speed.as_metres_per_second() * interval;
        let still = Point { x: 0.0, y: 0.0 };
        let (point, obstacles, step) = match terminal.place {
            Start::At { distance, obstacles } => {
                (Point { x: distance.as_f64(), y: 0.0 }, obstacles.as_f64(), still)
            }
            Start::Anywhere => {
                let point = map.anywhere(&mut random);
                let angle = std::f64::consts::TAU * random.uniform();
                (point, 0.0, Point { x: length * libm::cos(angle), y: length * libm::sin(angle) })
            }
        };
        let correlation = libm::exp(-step.length() / map.distance.max(1e-3));
        let mut random = seed.stream(&format!("{name}.shadowing"));
        let common = random.normal();
        let own = map.sites.iter().map(|_| random.normal()).collect();
        let innovation = (1.0 - correlation * correlation).sqrt();
        let gains = vec![0.0; map.sites.len() * map.sectors];
        let mut position =
            Self { point, step, obstacles, common, own, correlation, innovation, random, gains };
        position.measure(map);
        position
    }

    /// Whether the terminal moves.
    pub(super) fn moves(&self) -> bool {
        self.step.length() > 0.0
    }

    /// Advances by one interval.
    pub(super) fn advance(&mut self, map: &Map) {
        let moved = Point { x: self.point.x + self.step.x, y: self.point.y + self.step.y };
        self.point = map.within(moved);
        if map.shadowing > 0.0 {
            for value in std::iter::once(&mut self.common).chain(&mut self.own) {
                *value = self.correlation * *value + self.innovation * self.random.normal();
            }
        }
        self.measure(map);
    }

    fn measure(&mut self, map: &Map) {
        for ((site, own), gains) in
            map.sites.iter().zip(&self.own).zip(self.gains.chunks_mut(map.sectors.max(1)))
        {
            let way = map.way(*site, self.point);
            let shadow =
                map.shadowing * (COMMON.sqrt() * self.common + (1.0 - COMMON).sqrt() * own);
            let loss = map.at_a_metre
                + map.slope * libm::log10(way.length().max(1.0))
                + shadow
                + self.obstacles;
            for (sector, gain) in gains.iter_mut().enumerate() {
                let loss = loss - map.antenna_gain + map.pattern(sector, way);
                *gain = libm::exp10(-loss.max(MIN_LOSS) / 10.0);
            }
        }
    }

    /// The cell with the strongest signal.
    pub(super) fn best(&self) -> usize {
        let better = |best: usize, cell: usize| {
            if self.gains[cell] > self.gains[best] { cell } else { best }
        };
        (0..self.gains.len()).fold(0, better)
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Shadowing, UrbanLoss};
    use super::*;
    use units::{Decibels, Metres, Speed};

    fn city(deviation: i16) -> LteConfig {
        LteConfig {
            layout: Layout::Hexagonal { inter_site_distance: Metres::new(500), sectors: 3 },
            shadowing: Shadowing { deviation: Decibels::new(deviation), distance: Metres::new(50) },
            path_loss: UrbanLoss { penetration: Decibels::new(60), ..UrbanLoss::default() },
            ..LteConfig::default()
        }
    }

    fn roaming(seed: u64, map: &Map) -> Position {
        let terminal = LteTerminal {
            place: Start::Anywhere,
            speed: Speed::from_kmh(30),
            ..LteTerminal::default()
        };
        Position::new(map, &terminal, 0.08, Seed(seed), "user")
    }

    #[test]
    fn the_loss_follows_the_urban_model() {
        let map = Map::new(&LteConfig::default());
        let gain = |distance: &str, obstacles: i16| {
            let place = Start::At {
                distance: distance.parse().unwrap(),
                obstacles: Decibels::new(obstacles),
            };
            let terminal = LteTerminal { place, ..LteTerminal::default() };
            10.0 * libm::log10(Position::new(&map, &terminal, 0.08, Seed(1), "user").gains[0])
        };
        assert!((gain("1km", 0) + 128.1 - 14.0).abs() < 1e-6, "{}", gain("1km", 0));
        assert!((gain("100m", 0) - gain("1km", 0) - 37.6).abs() < 1e-6);
        assert!((gain("100m", 20) - gain("100m", 0) + 20.0).abs() < 1e-6);
        assert!((gain("5m", 0) + 70.0).abs() < 1e-9, "{}", gain("5m", 0));
    }

    #[test]
    fn all_cells_serve_equal_areas() {
        // With wrap-around and without shadowing, the outer sites equal the middle one: each cell
        // serves 1/21 of the area.
        let map = Map::new(&city(0));
        let mut served = [0_u32; 21];
        for seed in 0..21_000 {
            served[roaming(seed, &map).best()] += 1;
        }
        assert!(served.iter().all(|count| (880..1_120).contains(count)), "{served:?}");
        assert!(map.sites.iter().all(|site| map.within(*site) == *site));
    }

    #[test]
    fn a_terminal_that_leaves_enters_on_the_other_side() {
        let map = Map::new(&city(0));
        let mut user = roaming(3, &map);
        let mut before = user.gains[user.best()];
        for _ in 0..50_000 {
            user.advance(&map);
            assert!(map.within(user.point) == user.point);
            // Over 0.67 m the strongest signal changes by less than a decibel, except close to a
            // site. (The signal of a site half the network away jumps where another image of it
            // becomes the nearest.)
            let best = user.gains[user.best()];
            if map.sites.iter().all(|site| map.way(*site, user.point).length() > NEAREST) {
                assert!((10.0 * libm::log10(best / before)).abs() < 1.0);
            }
            before = best;
        }
    }

    #[test]
    fn shadowing_has_its_deviation_and_its_correlations() {
        let (plain, shadowed) = (Map::new(&city(0)), Map::new(&city(8)));
        let (mut one, mut two, mut both, mut later) = (0.0, 0.0, 0.0, 0.0);
        for seed in 0..4_000 {
            let (mut without, mut with) = (roaming(seed, &plain), roaming(seed, &shadowed));
            let shadow = |with: &Position, without: &Position, cell: usize| {
                10.0 * libm::log10(with.gains[cell] / without.gains[cell])
            };
            let (a, b) = (shadow(&with, &without, 0), shadow(&with, &without, 3));
            assert!((a - shadow(&with, &without, 1)).abs() < 1e-9, "cells of a site");
            // 75 steps of two thirds of a metre are 50 m.
            (0..75).for_each(|_| {
                without.advance(&plain);
                with.advance(&shadowed);
            });
            one += a * a;
            two += b * b;
            both += a * b;
            later += a * shadow(&with, &without, 0);
        }
        assert!(((one / 4_000.0).sqrt() - 8.0).abs() < 0.3, "{}", (one / 4_000.0).sqrt());
        assert!((both / (one * two).sqrt() - 0.5).abs() < 0.05, "{}", both / (one * two).sqrt());
        assert!((later / one - 0.368).abs() < 0.05, "{}", later / one);
    }
}
