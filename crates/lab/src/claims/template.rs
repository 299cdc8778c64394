use cel::Value;

/// The format of a claim's measured values: text with the placeholders `{name}`, `{name:%}`,
/// `{name:ms}`, `{name:s}`, `{name:bit/s}` or `{name:.2}`. The items of a list are separated by
/// commas.
#[derive(Clone, Debug)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Value(String, Format),
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Plain,
    Decimals(usize),
    Percent,
    Milliseconds,
    Seconds,
    Rate,
}

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TemplateError {
    /// A placeholder is not closed.
    #[error("a '{{' without '}}'")]
    Unclosed,
    /// A placeholder names an unknown value.
    #[error("'{0}' is not a measured value")]
    Unknown(String),
    /// A placeholder has an unknown format.
    #[error("'{0}' is not a format; use %, ms, s, bit/s or .2")]
    Format(String),
}

impl Template {
    pub(super) fn parse(text: &str, names: &[String]) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after.split_once('}').ok_or(TemplateError::Unclosed)?;
            let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
            if !names.iter().any(|known| known == name) {
                return Err(TemplateError::Unknown(name.to_owned()));
            }
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Value(name.to_owned(), Format::parse(format)?));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self { parts })
    }

    /// A template that lists these values with their names, for a claim without a template.
    pub(super) fn listing<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut parts = Vec::new();
        for name in names {
            let separator = if parts.is_empty() { "" } else { "; " };
            parts.push(Part::Text(format!("{separator}{name} ")));
            parts.push(Part::Value(name.to_owned(), Format::Plain));
        }
        Self { parts }
    }

    pub(super) fn show(&self, values: &[(String, Value)]) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out += text,
                Part::Value(name, format) => {
                    let value = values.iter().find(|(known, _)| known == name);
                    out += &value.map_or_else(|| "?".to_owned(), |(_, value)| format.show(value));
                }
            }
        }
        out
    }
}

impl Format {
    fn parse(text: &str) -> Result<Self, TemplateError> {
        Ok(match text {
            "" => Self::Plain,
            "%" => Self::Percent,
            "ms" => Self::Milliseconds,
            "s" => Self::Seconds,
            "bit/s" => Self::Rate,
            _ => {
                let decimals = text.strip_prefix('.').and_then(|digits| digits.parse().ok());
                let decimals = decimals.filter(|count| *count <= 9);
                Self::Decimals(decimals.ok_or_else(|| TemplateError::Format(text.to_owned()))?)
            }
        })
    }

    fn show(self, value: &Value) -> String {
        match value {
            Value::List(items) => {
                items.iter().map(|item| self.show(item)).collect::<Vec<_>>().join(", ")
            }
            Value::Float(number) => self.number(*number),
            #[expect(clippy::cast_precision_loss, reason = "counts are small")]
            Value::Int(number) => self.number(*number as f64),
            Value::Bool(value) => value.to_string(),
            Value::String(text) => text.to_string(),
            Value::Null => "none".to_owned(),
            other => format!("{other:?}"),
        }
    }

    fn number(self, value: f64) -> String {
        if !value.is_finite() {
            return "never".to_owned();
        }
        match self {
            Self::Plain => {
                format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            Self::Decimals(count) => format!("{value:.count$}"),
            // Three decimals, so that a small loss is not shown as zero.
            Self::Percent if value != 0.0 && value.abs() < 0.001 => {
                format!("{:.3} %", value * 100.0)
            }
            Self::Percent => format!("{:.1} %", value * 100.0),
            Self::Milliseconds => format!("{:.1} ms", value * 1e3),
            Self::Seconds => format!("{value:.1} s"),
            Self::Rate if value.abs() >= 999_500.0 => format!("{:.2} Mbit/s", value / 1e6),
            Self::Rate => format!("{:.0} kbit/s", value / 1e3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_their_units() {
        let names = ["a".to_owned(), "list".to_owned()];
        let values = [
            ("a".to_owned(), Value::Float(0.0123)),
            ("list".to_owned(), vec![1.5e6, 2e5, f64::NAN].into()),
        ];
        let show = |text: &str| Template::parse(text, &names).unwrap().show(&values);
        assert_eq!(
            show("loss {a:%}, {a:ms}, {a:s}, {a:.3}, {a}"),
            "loss 1.2 %, 12.3 ms, 0.0 s, 0.012, 0.0123"
        );
        assert_eq!(show("{list:bit/s}"), "1.50 Mbit/s, 200 kbit/s, never");
        assert_eq!(Template::listing(["a"].into_iter()).show(&values), "a 0.0123");
        let error = |text: &str| Template::parse(text, &names).unwrap_err().to_string();
        assert_eq!(error("{b}"), "'b' is not a measured value");
        assert_eq!(error("{a:furlong}"), "'furlong' is not a format; use %, ms, s, bit/s or .2");
        assert_eq!(error("{a"), "a '{' without '}'");
    }
}
