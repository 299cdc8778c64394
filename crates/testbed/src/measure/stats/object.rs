//! The statistics objects of a report.

use serde_json::{Map, Value};
use units::Time;

/// A report within the run.
pub(super) struct Report<'a> {
    pub(super) at: Time,
    /// The index of its sample, if it belongs to one.
    pub(super) index: Option<usize>,
    /// Whether its counters were counted before the run.
    pub(super) is_before: bool,
    pub(super) stats: &'a Map<String, Value>,
}

/// An `RTCStats` object.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) members: &'a Map<String, Value>,
}

impl<'a> Report<'a> {
    /// The objects that have a type.
    pub(super) fn objects(&self) -> impl Iterator<Item = Object<'a>> {
        self.stats.iter().filter_map(|(id, value)| Object::new(id, value))
    }

    /// The object with this `id`.
    pub(super) fn object(&self, id: &str) -> Option<Object<'a>> {
        let (id, value) = self.stats.get_key_value(id)?;
        Object::new(id, value)
    }

    /// The candidate pair that carries the media: the one that the transport names; else the one
    /// that Firefox marks as selected; else the nominated, successful pair that sent most bytes.
    pub(super) fn selected_pair(&self) -> Option<Object<'a>> {
        let of_type = |kind: &'static str| self.objects().filter(move |object| object.kind == kind);
        let named =
            of_type("transport").filter_map(|transport| transport.text("selectedCandidatePairId"));
        let mut named =
            named.filter_map(|id| self.object(id)).filter(|object| object.kind == "candidate-pair");
        let pairs = || of_type("candidate-pair");
        let works =
            |pair: &Object<'_>| pair.flag("nominated") && pair.text("state") == Some("succeeded");
        let carried = |pair: &Object<'_>| pair.number("bytesSent").unwrap_or(0.0);
        named.next().or_else(|| pairs().find(|pair| pair.flag("selected"))).or_else(|| {
            pairs().filter(works).max_by(|one, other| carried(one).total_cmp(&carried(other)))
        })
    }
}

impl<'a> Object<'a> {
    fn new(id: &'a str, value: &'a Value) -> Option<Self> {
        let members = value.as_object()?;
        Some(Self { id, kind: members.get("type")?.as_str()?, members })
    }

    pub(super) fn number(&self, member: &str) -> Option<f64> {
        self.members.get(member)?.as_f64().filter(|value| value.is_finite())
    }

    pub(super) fn text(&self, member: &str) -> Option<&'a str> {
        self.members.get(member)?.as_str()
    }

    pub(super) fn flag(&self, member: &str) -> bool {
        self.members.get(member).and_then(Value::as_bool).unwrap_or(false)
    }

    /// `video` or `audio`.
    pub(super) fn media(&self) -> Option<&'a str> {
        self.text("kind").or_else(|| self.text("mediaType"))
    }
}
