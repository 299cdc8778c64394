use crate::cli::Control;
use crate::failure::Failure;
use crate::output::Output;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

pub(crate) fn run(args: &Control) -> Result<ExitCode, Failure> {
    let shown = args.socket.display();
    let failed = |error: io::Error| {
        Failure::new(format!(
            "{shown}: {error}; name the socket of a 'weir emulate --control' that runs"
        ))
    };
    let mut socket = UnixStream::connect(&args.socket).map_err(failed)?;
    writeln!(socket, "{}", args.request.join(" ")).map_err(failed)?;
    socket.shutdown(Shutdown::Write).map_err(failed)?;
    let mut out = Output::new();
    let mut answer = None;
    for line in BufReader::new(socket).lines() {
        if let Some(former) = answer.replace(line.map_err(failed)?) {
            out.line(former)?;
        }
    }
    out.finish()?;
    match answer.as_deref() {
        Some("ok") => Ok(ExitCode::SUCCESS),
        Some(other) => Err(Failure::new(other.trim_start_matches("error: "))),
        None => Err(Failure::new(format!("{shown}: no answer; the run has ended"))),
    }
}
