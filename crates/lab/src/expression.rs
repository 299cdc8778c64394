//! Expressions in the Common Expression Language (<https://cel.dev>), with the functions that
//! claims and the objectives of sweeps need.

use cel::extractors::Arguments;
use cel::{Context, ExecutionError, Program, Value};
use metrics::mean;
use std::collections::HashMap;
use std::sync::Arc;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Expression {
    text: String,
    program: Program,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExpressionError {
    /// The text is not a CEL expression.
    #[error("'{text}' is not an expression: {message}")]
    Syntax { text: String, message: String },
    /// The expression refers to an unknown variable.
    #[error("'{text}' refers to '{name}', which is not defined{}", listed(known))]
    UnknownVariable { text: String, name: String, known: Vec<String> },
    /// The evaluation fails.
    #[error("'{text}': {message}")]
    Evaluation { text: String, message: String },
    /// The functions of this module cannot be declared.
    #[error("the functions of expressions cannot be declared: {0}")]
    Declaration(String),
}

impl Expression {
    /// Compiles an expression. `names` are the variables that it may use.
    pub(crate) fn parse(text: &str, names: &[String]) -> Result<Self, ExpressionError> {
        let program = Program::compile(text).map_err(|errors| ExpressionError::Syntax {
            text: text.to_owned(),
            message: errors.errors.first().map_or_else(String::new, |error| error.msg.clone()),
        })?;
        let unknown = program
            .references()
            .variables()
            .into_iter()
            .find(|name| !names.iter().any(|known| known == name) && !bound(text, name))
            .map(|name| ExpressionError::UnknownVariable {
                text: text.to_owned(),
                name: name.to_owned(),
                known: names.to_vec(),
            });
        unknown.map_or(Ok(Self { text: text.to_owned(), program }), Err)
    }

    /// The value of the expression. A comparison with not-a-number, a value that was not measured,
    /// gives not-a-number.
    pub(crate) fn evaluate(&self, scope: &Scope) -> Result<Value, ExpressionError> {
        let is_nan = |value: &Value| matches!(value, Value::Float(number) if number.is_nan());
        match self.program.execute(&scope.context) {
            Err(ExecutionError::ValuesNotComparable(a, b)) if is_nan(&a) || is_nan(&b) => {
                Ok(Value::Float(f64::NAN))
            }
            result => result.map_err(|error| ExpressionError::Evaluation {
                text: self.text.clone(),
                message: error.to_string(),
            }),
        }
    }
}

/// The known names, for messages.
fn listed(known: &[String]) -> String {
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!("; defined are {}", names.join(", ")) }
}

/// Whether `name` looks like the variable of a `map`, `filter` or `all`: `cells.map(c, …)`.
fn bound(text: &str, name: &str) -> bool {
    text.contains(&format!("({name},"))
}

/// The variables and functions that an expression may use.
pub(crate) struct Scope {
    context: Context<'static, 'static>,
}

/// A parameter or a measured value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    Number(f64),
    Text(String),
}

impl Scope {
    /// A scope without variables.
    pub(crate) fn new() -> Result<Self, ExpressionError> {
        let mut context = Context::default();
        add_functions(&mut context)
            .map_err(|error| ExpressionError::Declaration(error.to_string()))?;
        Ok(Self { context })
    }

    /// A scope in which `name` is a list of maps.
    pub(crate) fn of_list(
        name: &str,
        items: impl IntoIterator<Item = Vec<(String, Datum)>>,
    ) -> Result<Self, ExpressionError> {
        let mut scope = Self::new()?;
        scope.add(name, Value::List(Arc::new(items.into_iter().map(map).collect())));
        Ok(scope)
    }

    pub(crate) fn add(&mut self, name: &str, value: Value) {
        self.context.add_variable_from_value(name, value);
    }
}

/// The entries as a map, whose members an expression names: `cell.loss`.
pub(crate) fn map(entries: Vec<(String, Datum)>) -> Value {
    let value = |datum| match datum {
        Datum::Number(number) => Value::Float(number),
        Datum::Text(text) => Value::from(text),
    };
    entries.into_iter().map(|(name, datum)| (name, value(datum))).collect::<HashMap<_, _>>().into()
}

fn add_functions(context: &mut Context<'static, 'static>) -> Result<(), cel::DeclarationError> {
    context.add_function("min", |args: Arguments| {
        reduce("min", &args, |list| extreme(list, f64::min))
    })?;
    context.add_function("max", |args: Arguments| {
        reduce("max", &args, |list| extreme(list, f64::max))
    })?;
    context.add_function("mean", |args: Arguments| reduce("mean", &args, mean))?;
    context
        .add_function("sum", |args: Arguments| reduce("sum", &args, |list| list.iter().sum()))?;
    context.add_function("sqrt", |args: Arguments| reduce("sqrt", &args, |list| list[0].sqrt()))?;
    context.add_function("abs", |args: Arguments| reduce("abs", &args, |list| list[0].abs()))?;
    context.add_function("ln", |args: Arguments| reduce("ln", &args, |list| libm::log(list[0])))?;
    context
        .add_function("increasing", |args: Arguments| ordered("increasing", &args, |a, b| a < b))?;
    context
        .add_function("decreasing", |args: Arguments| ordered("decreasing", &args, |a, b| a > b))?;
    context.add_function("within", |args: Arguments| within(&args))
}

/// The number; `None` if the value is none.
pub(crate) fn as_number(value: &Value) -> Option<f64> {
    number("", value).ok()
}

type FunctionResult = Result<Value, ExecutionError>;

/// Reduces a list, or the arguments themselves, to one number.
fn reduce(name: &str, args: &Arguments, of: impl Fn(&[f64]) -> f64) -> FunctionResult {
    let list = match args.0.as_slice() {
        [list @ Value::List(_)] => numbers(name, list)?,
        _ => args.0.iter().map(|value| number(name, value)).collect::<Result<_, _>>()?,
    };
    if list.is_empty() && matches!(name, "sqrt" | "abs" | "ln") {
        return Err(ExecutionError::function_error(name, "it needs a number"));
    }
    Ok(Value::Float(of(&list)))
}

/// The least or the greatest number; not-a-number if the list is empty or contains not-a-number.
fn extreme(list: &[f64], pick: fn(f64, f64) -> f64) -> f64 {
    let pick = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) };
    list.iter().copied().reduce(pick).unwrap_or(f64::NAN)
}

fn ordered(name: &str, args: &Arguments, in_order: fn(f64, f64) -> bool) -> FunctionResult {
    let [list] = args.0.as_slice() else {
        return Err(ExecutionError::function_error(name, "it needs one list"));
    };
    Ok(Value::Bool(numbers(name, list)?.windows(2).all(|pair| in_order(pair[0], pair[1]))))
}

/// `within(measured, published, share)`: each measured number is within ± share of the published
/// one.
fn within(args: &Arguments) -> FunctionResult {
    let error = |reason: &str| Err(ExecutionError::function_error("within", reason));
    let [measured, published, share] = args.0.as_slice() else {
        return error("it needs two lists and a share");
    };
    let (measured, published) = (numbers("within", measured)?, numbers("within", published)?);
    if measured.len() != published.len() {
        return error("the lists are not of the same length");
    }
    let share = number("within", share)?;
    let near = |(measured, published): (&f64, &f64)| {
        (measured - published).abs() <= share * published.abs()
    };
    Ok(Value::Bool(measured.iter().zip(&published).all(near)))
}

fn numbers(name: &str, value: &Value) -> Result<Vec<f64>, ExecutionError> {
    match value {
        Value::List(list) => list.iter().map(|value| number(name, value)).collect(),
        _ => Err(ExecutionError::function_error(name, "it needs a list of numbers")),
    }
}

fn number(name: &str, value: &Value) -> Result<f64, ExecutionError> {
    match value {
        Value::Float(number) => Ok(*number),
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        Value::Int(number) => Ok(*number as f64),
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        Value::UInt(number) => Ok(*number as f64),
        _ => Err(ExecutionError::function_error(name, "it needs numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(text: &str) -> Result<Value, ExpressionError> {
        let cell = |name: &str, loss: f64| {
            vec![
                ("name".to_owned(), Datum::Text(name.into())),
                ("loss".to_owned(), Datum::Number(loss)),
            ]
        };
        let cells = [cell("a", 0.0), cell("b", 0.5), cell("c", f64::NAN)];
        let scope = Scope::of_list("cells", cells)?;
        Expression::parse(text, &["cells".to_owned()])?.evaluate(&scope)
    }

    #[test]
    fn functions_compute_their_values() {
        for (text, expected) in [
            ("min([3.0, 1.0, 2.0]) == 1.0 && max(3.0, 1.0) == 3.0", true),
            (
                "mean([1.0, 2.0]) == 1.5 && sum([1, 2]) == 3.0 && sqrt(4.0) == 2.0 && abs(-1.5) == 1.5 && ln(1.0) == 0.0",
                true,
            ),
            (
                "increasing([1.0, 2.0, 3.0]) && !increasing([1.0, 1.0]) && decreasing([2.0, 1.0])",
                true,
            ),
            ("within([1.1, 2.0], [1.0, 2.0], 0.15)", true),
            ("within([1.2, 2.0], [1.0, 2.0], 0.15)", false),
            ("max(cells.filter(c, c.name != 'c').map(c, c.loss)) == 0.5", true),
            ("cells[0].loss == 0.0 && cells.all(c, c.name.size() == 1)", true),
        ] {
            assert_eq!(evaluate(text), Ok(Value::Bool(expected)), "{text}");
        }
    }

    #[test]
    fn no_comparison_with_not_a_number_holds() {
        for text in [
            "cells[2].loss < 1.0",
            "cells[2].loss >= 0.0",
            "min(cells.map(c, c.loss)) <= 9.0",
            "max([]) > 0.0",
        ] {
            assert_ne!(evaluate(text), Ok(Value::Bool(true)), "{text}");
        }
    }

    #[test]
    fn errors_name_the_expression() {
        let error = |text| evaluate(text).unwrap_err().to_string();
        assert!(error("1 +").starts_with("'1 +' is not an expression: "), "{}", error("1 +"));
        assert_eq!(
            error("los > 0.0"),
            "'los > 0.0' refers to 'los', which is not defined; defined are cells"
        );
        assert!(error("cells[0].lost > 0.0").contains("lost"), "{}", error("cells[0].lost > 0.0"));
        assert!(error("within([1.0], [1.0, 2.0], 0.1)").contains("not of the same length"));
        assert!(error("increasing(1.0)").contains("list of numbers"));
        assert!(error("median([1.0])").contains("median"), "{}", error("median([1.0])"));
    }
}
