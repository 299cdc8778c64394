use crate::cli::Tc;
use crate::failure::Failure;
use crate::output::Output;
use experiment::GatewayQueue;
use std::process::ExitCode;
use units::Ratio;

pub(crate) fn run(args: &Tc) -> Result<ExitCode, Failure> {
    let experiment = lab::open(&args.experiment)?.with_overrides(&args.set)?;
    let dev = args.dev.word();
    let mut out = Output::new();
    let (mut written, mut unfit) = (0, None);
    for cell in experiment.cells() {
        let queues = cell.gateway_queues(&dev);
        let wanted =
            queues.iter().filter(|queue| args.line.as_ref().is_none_or(|line| *line == queue.line));
        for queue in wanted {
            if args.undo {
                out.lines(if args.openwrt { GatewayQueue::SQM_UNDO } else { &queue.undo })?;
                out.finish()?;
                return Ok(ExitCode::SUCCESS);
            }
            if args.openwrt {
                match queue.sqm(&dev, Ratio::from_percent(args.share)) {
                    Ok(commands) => {
                        heading(&mut out, &cell.label(), queue)?;
                        out.lines(&commands)?;
                    }
                    Err(error) => {
                        unfit.get_or_insert(error);
                        continue;
                    }
                }
            } else if args.batch {
                heading(&mut out, &cell.label(), queue)?;
                // tc -batch reads no other commands.
                for command in queue.device.lines() {
                    out.line(format_args!("# before, in a shell: {command}"))?;
                }
                let commands = queue.tc.lines();
                for command in commands {
                    out.line(command.strip_prefix("tc ").unwrap_or(command))?;
                }
            } else {
                print(&mut out, &cell.label(), queue)?;
            }
            written += 1;
        }
    }
    out.finish()?;
    match unfit {
        Some(error) if written == 0 => Err(Failure::new(error)),
        None if written == 0 => {
            let line = args.line.as_deref().unwrap_or("any line");
            let reason = format!("{}: no queue at {line}", args.experiment);
            Err(Failure::new(format!(
                "{reason}; give a host's 'up' or 'down' a queue, or name another line"
            )))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// A heading as a shell comment, the commands, and the way back.
pub(super) fn print(out: &mut Output, cell: &str, queue: &GatewayQueue) -> Result<(), Failure> {
    heading(out, cell, queue)?;
    if let Some(needs) = queue.needs {
        out.line(format_args!("# needs {needs}"))?;
    }
    for (address, host) in &queue.hosts {
        out.line(format_args!("# {address} stands for {host}: write its address"))?;
    }
    out.lines(&queue.commands())?;
    for command in queue.undo.lines() {
        out.line(format_args!("# back: {command}"))?;
    }
    Ok(())
}

/// Which line and cell follow, on one line of comment: a shell runs the next one.
fn heading(out: &mut Output, cell: &str, queue: &GatewayQueue) -> Result<(), Failure> {
    let cell = if cell.is_empty() { String::new() } else { format!(" ({cell})") };
    let rate =
        queue.rate.map(|rate| format!("; the line itself sends at {rate}")).unwrap_or_default();
    out.line(format_args!("# {}{cell}{rate}", queue.line))
}
