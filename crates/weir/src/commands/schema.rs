use super::{doctor, list, run};
use crate::cli::{Schema as Args, SchemaOf};
use crate::failure::Failure;
use crate::output::Output;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use std::process::ExitCode;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut out = Output::new();
    out.lines(&format!("{:#}", of(args.of)))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn of(what: SchemaOf) -> serde_json::Value {
    match what {
        SchemaOf::Experiment => experiment::schema(),
        SchemaOf::Sweep => lab::sweep::schema(),
        SchemaOf::Run => lines_of::<run::RunLine<'_>>(),
        #[cfg(feature = "testbed")]
        SchemaOf::Emulate | SchemaOf::Measure => lines_of::<super::real_time::RealTimeLine<'_>>(),
        #[cfg(feature = "testbed")]
        SchemaOf::Upload => lines_of::<testbed::upload::UploadLine>(),
        SchemaOf::Verify => lines_of::<lab::claims::Verdict>(),
        SchemaOf::Advise => lines_of::<lab::remedies::RemedyLine<'_>>(),
        SchemaOf::Judge => lines_of::<lab::judge::Finding>(),
        SchemaOf::Equal => lines_of::<super::equal::EqualLine<'_>>(),
        SchemaOf::ExternalMessage => lines_of::<lab::external::Message<'_>>(),
        SchemaOf::ExternalAnswer => schemars::schema_for!(lab::external::Answer).to_value(),
        SchemaOf::Compare => lines_of::<lab::comparison::Difference>(),
        SchemaOf::List => lines_of::<list::ExperimentRow>(),
        SchemaOf::ListControllers => lines_of::<list::ControllerOrImprovement>(),
        SchemaOf::ListMetrics => lines_of::<metrics::Metric>(),
        SchemaOf::ListRemedies => lines_of::<lab::remedies::Remedy>(),
        SchemaOf::ListStore => lines_of::<list::StoredRow>(),
        SchemaOf::Doctor => lines_of::<doctor::Finding>(),
    }
}

/// The schema of what is written: members that may be absent are not required.
fn lines_of<T: JsonSchema>() -> serde_json::Value {
    SchemaSettings::default()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
