use super::eprint;
use crate::cli::{Upload, UploadClient, UploadServer, UploadSide};
use crate::failure::Failure;
use crate::output::{Output, is_watched};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use testbed::upload::{
    Client, Ending, Limits, Outcome, SenderSample, Server, TcpSource, UploadEvent, UploadLine,
    Value,
};
use units::Bytes;

pub(crate) fn run(args: &Upload) -> Result<ExitCode, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        // A second Ctrl-C ends the program at once.
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(Failure::new)?;
    match &args.side {
        UploadSide::Server(args) => serve(args, &stop),
        UploadSide::Client(args) => upload(args, &stop),
    }
}

fn serve(args: &UploadServer, stop: &AtomicBool) -> Result<ExitCode, Failure> {
    let out = Mutex::new(Output::new());
    let tell = |line: &UploadLine| {
        let Ok(mut out) = out.lock() else { return Ok(()) };
        match line {
            _ if args.json => told(out.json(line)),
            UploadLine::Event(event) => {
                words(event).map_or(Ok(()), |words| told(out.line_at_once(words)))
            }
            UploadLine::Sender(_) | UploadLine::Receiver(_) => Ok(()),
        }
    };
    let limits = Limits {
        clients: args.max_clients,
        clients_per_address: args.max_clients_per_address,
        idle: args.idle_timeout,
    };
    let server = Server { listen: args.listen, interval: args.interval, limits };
    testbed::upload::serve(&server, stop, &tell)?;
    Ok(ExitCode::SUCCESS)
}

/// The line that a server prints for an event.
fn words(event: &UploadEvent) -> Option<String> {
    let UploadEvent { address, peer, value, .. } = event;
    let count = match value {
        Some(Value::Count(count)) => *count,
        _ => 0,
    };
    match (event.event, peer) {
        ("listening", _) => address.as_ref().map(|address| format!("listening on {address}")),
        ("stopped", _) => Some(format!("stopped after {count} uploads")),
        (what, Some(peer)) => Some(format!("{peer}: {what}, {count} bytes received")),
        _ => None,
    }
}

fn upload(args: &UploadClient, stop: &AtomicBool) -> Result<ExitCode, Failure> {
    let client = client(args);
    let mut out = Output::new();
    let bar = (!args.quiet && !args.json && is_watched()).then(|| bar(args));
    let mut tell = |line: &UploadLine| {
        if let (Some(bar), UploadLine::Sender(sample)) = (&bar, line) {
            bar.set_position(sample.bytes_acknowledged);
        }
        if args.json { told(out.json(line)) } else { Ok(()) }
    };
    let result = testbed::upload::upload(&client, stop, &mut tell);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let outcome = result?;
    if !args.json {
        out.line(in_words(&outcome))?;
    } else if outcome.last_sample.is_none() && !args.quiet {
        eprint("stopped before a connection was established");
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn client(args: &UploadClient) -> Client {
    let source = match (args.bytes, args.on, args.off) {
        (Some(bytes), ..) => TcpSource::Finite(bytes),
        (None, Some(on), Some(off)) => TcpSource::OnOff { on, off },
        _ => TcpSource::Endless,
    };
    Client {
        server: args.host.clone(),
        port: args.port,
        congestion_control: args.congestion_control.clone(),
        dscp: args.dscp,
        source,
        duration: args.duration,
        interval: args.interval,
    }
}

fn bar(args: &UploadClient) -> ProgressBar {
    let template = match args.bytes {
        Some(_) => "{bar:30} {decimal_bytes} of {decimal_total_bytes}, {eta} left",
        None => "{spinner} {decimal_bytes} in {elapsed}",
    };
    let bar = ProgressBar::with_draw_target(
        args.bytes.map(Bytes::get),
        ProgressDrawTarget::stderr_with_hz(5),
    );
    bar.with_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}

fn in_words(outcome: &Outcome) -> String {
    let Some(last_sample) = &outcome.last_sample else {
        return "stopped before a connection was established".to_owned();
    };
    let SenderSample {
        bytes_acknowledged: bytes, packets_sent, retransmitted_packets_sent, ..
    } = last_sample;
    let seconds = outcome.time.as_secs_f64();
    let what = match outcome.ending {
        Ending::Completed => "completed",
        Ending::CutOff => "cut off",
    };
    #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
    let rate = *bytes as f64 * 8e-6 / seconds.max(1e-9);
    format!(
        "{what}: {bytes} bytes acknowledged in {seconds:.3} s, {rate:.2} Mbit/s; \
         {retransmitted_packets_sent} of {packets_sent} packets retransmitted"
    )
}

/// The configuration of the client.
fn told(result: Result<(), Failure>) -> io::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(Failure::Message(message)) => Err(io::Error::other(message)),
        Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
    }
}
