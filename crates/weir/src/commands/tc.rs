use crate::cli::Tc;
use crate::failure::Failure;
use crate::output::Output;
use experiment::GatewayQueue;
use std::process::ExitCode;

pub(crate) fn run(args: &Tc) -> Result<ExitCode, Failure> {
    let experiment = lab::open(&args.experiment)?.with_overrides(&args.set)?;
    let mut out = Output::new();
    let mut written = 0;
    for cell in experiment.cells() {
        let queues = cell.gateway_queues(&args.dev.word());
        let wanted =
            queues.iter().filter(|queue| args.line.as_ref().is_none_or(|line| *line == queue.line));
        for queue in wanted {
            print(&mut out, &cell.label(), queue)?;
            written += 1;
        }
    }
    out.finish()?;
    if written == 0 {
        let line = args.line.as_deref().unwrap_or("any line");
        let reason = format!("{}: no queue at {line}", args.experiment);
        return Err(Failure::new(format!(
            "{reason}; give a host's 'up' or 'down' a queue, or name another line"
        )));
    }
    Ok(ExitCode::SUCCESS)
}

/// A heading as a shell comment, and the commands.
pub(super) fn print(out: &mut Output, cell: &str, queue: &GatewayQueue) -> Result<(), Failure> {
    let cell = if cell.is_empty() { String::new() } else { format!(" ({cell})") };
    let rate =
        queue.rate.map(|rate| format!("; the line itself sends at {rate}")).unwrap_or_default();
    // On one line: a shell runs the next one.
    out.line(format_args!("# {}{cell}{rate}", queue.line))?;
    out.lines(&queue.tc)
}
