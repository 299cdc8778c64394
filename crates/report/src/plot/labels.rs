//! Where the labels of points go: beside their points if there is room, else farther away with a
//! leader line. No label covers another label or a point.

use super::legend::Pixel;

/// Half of a label's height, in CSS pixels.
const HALF: i32 = 7;
/// Half of a point's size, in CSS pixels.
const POINT: i32 = 5;
/// Distance between the centre of a point and its label, in CSS pixels.
const GAP: i32 = 9;
/// Distances of a label with a leader line, in CSS pixels.
const RINGS: [i32; 6] = [22, 34, 48, 64, 84, 108];
/// Directions from the point, as (right, down): right, left, above, below, then the diagonals.
const SIDES: [(i32, i32); 8] =
    [(1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)];

/// A rectangle, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) left: i32,
    pub(crate) top: i32,
    pub(crate) right: i32,
    pub(crate) bottom: i32,
}

impl Rect {
    const fn overlaps(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    const fn is_within(self, bounds: Self) -> bool {
        self.left >= bounds.left
            && self.top >= bounds.top
            && self.right <= bounds.right
            && self.bottom <= bounds.bottom
    }

    const fn around((x, y): Pixel, half: i32) -> Self {
        Self { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }
}

/// A point whose label is to be placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointLabel {
    /// The centre of the point.
    pub(crate) at: Pixel,
    /// Width of the label, in CSS pixels.
    pub(crate) width: i32,
    /// The error bars of the point. Labels avoid these if they can.
    pub(crate) bars: [Rect; 2],
}

/// Where a label goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LabelPosition {
    /// The middle of the label's left side.
    pub(crate) left: Pixel,
    /// The leader line from the point; `None` if the label is beside its point.
    pub(crate) leader: Option<(Pixel, Pixel)>,
    rect: Rect,
}

/// Places the labels one after the other. The same points give the same positions.
pub(crate) fn place_labels(points: &[PointLabel], bounds: Rect) -> Vec<LabelPosition> {
    let discs: Vec<Rect> = points.iter().map(|point| Rect::around(point.at, POINT)).collect();
    let bars: Vec<Rect> = points.iter().flat_map(|point| point.bars).collect();
    let mut placed: Vec<LabelPosition> = Vec::with_capacity(points.len());
    for point in points {
        let is_free = |label: &LabelPosition| {
            let rect = label.rect;
            rect.is_within(bounds)
                && !discs.iter().any(|disc| rect.overlaps(*disc))
                && !placed.iter().any(|other| rect.overlaps(other.rect))
        };
        let is_clear = |label: &LabelPosition| {
            is_free(label) && !bars.iter().any(|bar| label.rect.overlaps(*bar))
        };
        let beside = || SIDES.into_iter().map(|side| candidate(point, side, GAP, false));
        // A near label on an error bar is better than a distant one.
        let on_ring = |ring| {
            let away = || SIDES.into_iter().map(move |side| candidate(point, side, ring, true));
            away().find(is_clear).or_else(|| away().find(is_free))
        };
        let found = beside()
            .find(is_clear)
            .or_else(|| beside().find(is_free))
            .or_else(|| RINGS.into_iter().find_map(on_ring));
        placed.push(found.unwrap_or_else(|| candidate(point, SIDES[0], GAP, false)));
    }
    placed
}

/// The position of a label in this direction and at this distance from its point.
fn candidate(
    point: &PointLabel,
    (across, down): (i32, i32),
    distance: i32,
    has_leader: bool,
) -> LabelPosition {
    let (x, y) = point.at;
    let left = match across {
        1 => x + distance,
        -1 => x - distance - point.width,
        _ => x - point.width / 2,
    };
    // On a diagonal without a leader line, the label is level with the edge of the point.
    let height =
        if across == 0 || has_leader { distance.max(GAP + HALF / 2) } else { distance + 2 };
    let middle = y + down * height;
    let rect = Rect { left, top: middle - HALF, right: left + point.width, bottom: middle + HALF };
    let end = (x.clamp(rect.left, rect.right), y.clamp(rect.top, rect.bottom));
    LabelPosition { left: (left, middle), leader: has_leader.then_some((point.at, end)), rect }
}

#[cfg(test)]
mod tests {
    use super::{LabelPosition, PointLabel, Rect, place_labels};

    const fn rect(left: i32, top: i32, right: i32, bottom: i32) -> Rect {
        Rect { left, top, right, bottom }
    }

    const BOUNDS: Rect = rect(0, 0, 400, 200);
    const NONE: Rect = rect(0, 0, 0, 0);

    fn point(at: (i32, i32)) -> PointLabel {
        PointLabel { at, width: 60, bars: [NONE; 2] }
    }

    fn check(positions: &[LabelPosition], points: &[PointLabel]) {
        for (i, here) in positions.iter().enumerate() {
            assert!(here.rect.is_within(BOUNDS), "{here:?}");
            assert!(
                positions[..i].iter().all(|other| !here.rect.overlaps(other.rect)),
                "{positions:?}"
            );
            for PointLabel { at, .. } in points {
                assert!(!here.rect.overlaps(Rect::around(*at, 3)), "{here:?} on {at:?}");
            }
        }
    }

    #[test]
    fn a_label_is_at_the_right_of_its_point_if_there_is_room() {
        let points = [point((100, 100)), point((390, 50))];
        let positions = place_labels(&points, BOUNDS);
        assert_eq!((positions[0].left, positions[1].left), ((109, 100), (321, 50)));
        check(&positions, &points);
        let barred = PointLabel { bars: [rect(100, 99, 140, 101), NONE], ..point((100, 100)) };
        let left = place_labels(&[barred], BOUNDS)[0].left;
        assert_eq!(left, (31, 100), "not on the error bar");
    }

    #[test]
    fn labels_of_crowded_points_have_leader_lines_and_cover_nothing() {
        let points: Vec<PointLabel> =
            (0..10).map(|i| point((200 + i % 3 * 6, 100 + i / 3 * 5))).collect();
        let positions = place_labels(&points, BOUNDS);
        check(&positions, &points);
        assert!(positions.iter().any(|label| label.leader.is_some()));
        assert_eq!(positions, place_labels(&points, BOUNDS));
    }
}
