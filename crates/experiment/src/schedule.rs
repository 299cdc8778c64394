use document::{Fault, FromNode, Location, Node, Reader, Value, read};
use net::{Ramped, Schedule, Shape};
use units::{Duration, Time};

/// The maximum number of steps of one ramp: a day at ten per second.
const MAX_STEPS: u64 = 1_000_000;
const BEGIN: &str = "begin with { at = \"0s\", value = … }";

/// A value over time: a constant, or a list of steps and ramps that begins at 0 s.
pub(crate) fn read_schedule<T: FromNode + Ramped>(
    node: &Node,
    key: &str,
) -> Result<Schedule<T>, Fault> {
    let Value::List(items) = &node.value else { return Ok(Schedule::constant(read(node, key)?)) };
    let mut reader = ScheduleReader { schedule: None, end: Time::ZERO };
    for item in items {
        reader.read_entry(item, key)?;
    }
    reader.schedule.ok_or_else(|| Fault::new(node.location, key, "the list is empty", BEGIN))
}

/// The entries of a list that have been read.
struct ScheduleReader<T> {
    schedule: Option<Schedule<T>>,
    /// The time at which the newest entry reaches its value.
    end: Time,
}

impl<T: FromNode + Ramped> ScheduleReader<T> {
    fn read_entry(&mut self, item: &Node, key: &str) -> Result<(), Fault> {
        let mut table = Reader::new(item, key)?;
        let at: Time = table.required("at")?;
        if self.schedule.is_none() && at > Time::ZERO {
            return Err(table.fault("at", format!("there is no value before {at}"), BEGIN));
        }
        if at < self.end {
            let suggestion = "put the list in order of time; a ramp ends at 'at' plus 'over'";
            let reason = format!("{at} is before {}, the end of the entry before", self.end);
            return Err(table.fault("at", reason, suggestion));
        }
        let schedule = match table.optional("value")? {
            Some(value) => self.step(at, value),
            None => self.ramp(at, &mut table)?,
        };
        table.finish()?;
        self.schedule = Some(schedule.ok_or_else(|| not_later(item.location, key, at))?);
        Ok(())
    }

    fn step(&mut self, at: Time, value: T) -> Option<Schedule<T>> {
        let mut steps =
            self.schedule.as_ref().map_or_else(Vec::new, |schedule| schedule.as_steps().to_vec());
        steps.push((at, value));
        self.end = at;
        Schedule::steps(steps)
    }

    fn ramp(&mut self, at: Time, table: &mut Reader<'_>) -> Result<Option<Schedule<T>>, Fault> {
        let to: T = table.required("ramp_to")?;
        let over: Duration = table.required("over")?;
        let every: Duration = table.or("every", Duration::from_millis(500))?;
        let shape = match table.or("shape", "linear".to_owned())?.as_str() {
            "linear" => Shape::Linear,
            "exponential" => Shape::Exponential,
            other => {
                let reason = format!("there is no shape '{other}'");
                return Err(table.fault("shape", reason, "write linear or exponential"));
            }
        };
        for (key, span) in [("every", every), ("over", over)] {
            if span == Duration::ZERO {
                return Err(table.fault(key, "zero is not allowed", "write a time above zero"));
            }
        }
        if over.as_nanos() / every.as_nanos() > MAX_STEPS {
            return Err(table.fault(
                "every",
                format!("more than {MAX_STEPS} steps"),
                "write a longer time",
            ));
        }
        let Some(before) = self.schedule.clone() else {
            return Err(table.fault("ramp_to", "a ramp needs a value to start from", BEGIN));
        };
        self.end = at + over;
        Ok(Some(before.with_ramp(at, to, over, every, shape)))
    }
}

fn not_later(location: Location, key: &str, at: Time) -> Fault {
    Fault::new(location, key, format!("two values at {at}"), "give each entry a later time")
}
