//! Where the names of points stand: beside them, none on another name or point, and farther off
//! with a line where it is crowded.

use super::legend::Spot;

/// Half of a name's height and of a point's size, in CSS pixels.
const HALF: i32 = 7;
const POINT: i32 = 5;
/// Between a point's middle and its name.
const GAP: i32 = 9;
/// How far off a name with a line may be.
const RINGS: [i32; 6] = [22, 34, 48, 64, 84, 108];
/// Right, left, above, below, and then between these.
const SIDES: [(i32, i32); 8] =
    [(1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)];

/// Left, top, right and bottom of a rectangle, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area(pub(super) i32, pub(super) i32, pub(super) i32, pub(super) i32);

impl Area {
    const fn meets(self, other: Self) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }

    const fn is_within(self, bounds: Self) -> bool {
        self.0 >= bounds.0 && self.1 >= bounds.1 && self.2 <= bounds.2 && self.3 <= bounds.3
    }
}

/// A point whose name is to be placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) at: Spot,
    /// Of the name.
    pub(super) width: i32,
    /// The bars of its intervals, which names avoid where they can.
    pub(super) bars: [Area; 2],
}

/// Where a name goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The middle of its left side.
    pub(super) left: Spot,
    /// The line to its point, if it does not stand beside it.
    pub(super) leader: Option<(Spot, Spot)>,
    area: Area,
}

/// Places the names one after the other; the same points give the same places.
pub(super) fn place(points: &[Named], bounds: Area) -> Vec<Place> {
    let discs: Vec<Area> = points
        .iter()
        .map(|Named { at: (x, y), .. }| Area(x - POINT, y - POINT, x + POINT, y + POINT))
        .collect();
    let bars: Vec<Area> = points.iter().flat_map(|point| point.bars).collect();
    let mut placed: Vec<Place> = Vec::with_capacity(points.len());
    for point in points {
        let is_free = |place: &Place| {
            let area = place.area;
            area.is_within(bounds)
                && !discs.iter().any(|disc| area.meets(*disc))
                && !placed.iter().any(|other| area.meets(other.area))
        };
        let is_clear =
            |place: &Place| is_free(place) && !bars.iter().any(|bar| place.area.meets(*bar));
        let beside = || SIDES.into_iter().map(|side| at(point, side, GAP, false));
        // A near name on a bar is better than one far off.
        let on_ring = |ring| {
            let away = || SIDES.into_iter().map(move |side| at(point, side, ring, true));
            away().find(is_clear).or_else(|| away().find(is_free))
        };
        let found = beside()
            .find(is_clear)
            .or_else(|| beside().find(is_free))
            .or_else(|| RINGS.into_iter().find_map(on_ring));
        placed.push(found.unwrap_or_else(|| at(point, SIDES[0], GAP, false)));
    }
    placed
}

/// A name at this side of its point, so far from its middle.
fn at(point: &Named, (across, down): (i32, i32), far: i32, has_leader: bool) -> Place {
    let (x, y) = point.at;
    let left = match across {
        1 => x + far,
        -1 => x - far - point.width,
        _ => x - point.width / 2,
    };
    // Slantwise a name begins beside the point, not beyond it.
    let middle =
        y + down * if across == 0 || has_leader { far.max(GAP + HALF / 2) } else { far + 2 };
    let area = Area(left, middle - HALF, left + point.width, middle + HALF);
    let end = (x.clamp(area.0, area.2), y.clamp(area.1, area.3));
    Place { left: (left, middle), leader: has_leader.then_some((point.at, end)), area }
}

#[cfg(test)]
mod tests {
    use super::{Area, Named, Place, place};

    const BOUNDS: Area = Area(0, 0, 400, 200);
    const NONE: Area = Area(0, 0, 0, 0);

    fn named(at: (i32, i32)) -> Named {
        Named { at, width: 60, bars: [NONE; 2] }
    }

    fn check(places: &[Place], points: &[Named]) {
        for (i, here) in places.iter().enumerate() {
            assert!(here.area.is_within(BOUNDS), "{here:?}");
            assert!(places[..i].iter().all(|other| !here.area.meets(other.area)), "{places:?}");
            for Named { at: (x, y), .. } in points {
                assert!(!here.area.meets(Area(x - 3, y - 3, x + 3, y + 3)), "{here:?} on {x}, {y}");
            }
        }
    }

    #[test]
    fn a_name_stands_at_the_right_if_there_is_room() {
        let points = [named((100, 100)), named((390, 50))];
        let places = place(&points, BOUNDS);
        assert_eq!((places[0].left, places[1].left), ((109, 100), (321, 50)));
        check(&places, &points);
        let barred = Named { bars: [Area(100, 99, 140, 101), NONE], ..named((100, 100)) };
        assert_eq!(place(&[barred], BOUNDS)[0].left, (31, 100), "not on the bar");
    }

    #[test]
    fn names_of_a_crowd_have_lines_and_cover_nothing() {
        let points: Vec<Named> =
            (0..10).map(|i| named((200 + i % 3 * 6, 100 + i / 3 * 5))).collect();
        let places = place(&points, BOUNDS);
        check(&places, &points);
        assert!(places.iter().any(|place| place.leader.is_some()));
        assert_eq!(places, place(&points, BOUNDS));
    }
}
