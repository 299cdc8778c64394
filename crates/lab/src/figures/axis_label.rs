//! Labels of plots for the axes of a grid.

/// The first part of a path in an experiment file that names a section and not a thing in it.
const SECTIONS: [&str; 8] =
    ["host", "call", "tcp", "users", "conference", "program", "wifi", "lte"];

/// What the values of an axis of a grid are: `queue of alice.up` for `host.alice.up.queue`. A name
/// that is not a path in the file is its own label.
pub(super) fn axis_label(axis: &str) -> String {
    let parts: Vec<&str> = axis.split('.').collect();
    let Some((last, rest)) = parts.split_last() else { return String::new() };
    let rest = match rest.split_first() {
        Some((first, inner)) if SECTIONS.contains(first) && !inner.is_empty() => inner,
        _ => rest,
    };
    let quantity = last.replace('_', " ");
    match rest {
        [] => quantity,
        ["*", inner @ ..] => {
            let of = std::iter::once("all").chain(inner.iter().copied()).collect::<Vec<_>>();
            format!("{quantity} of {}", of.join(" "))
        }
        _ => format!("{quantity} of {}", rest.join(".")),
    }
}

#[cfg(test)]
mod tests {
    use super::axis_label;

    #[test]
    fn the_label_of_an_axis_names_the_quantity_and_its_place() {
        let labels = [
            ("host.alice.up.queue", "queue of alice.up"),
            ("call.main.controller", "controller of main"),
            ("call.*.controller", "controller of all"),
            ("users.city.present", "present of city"),
            ("lte.city.bearer.default.queue", "queue of city.bearer.default"),
            ("strategy.kind", "kind of strategy"),
            ("core_delay", "core delay"),
            ("threshold", "threshold"),
        ];
        for (axis, label) in labels {
            assert_eq!(axis_label(axis), label);
        }
    }
}
