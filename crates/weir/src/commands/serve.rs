use super::eprint;
use crate::cli::Serve;
use crate::failure::Failure;
use crate::output::Output;
use dashboard::{Dashboard, Folder};
use lab::runner::all_cores;
use server::Secret;
use server::broker::{Api, Broker, Config, Exposed, MIN_TOKEN, read_secret};
use server::signalling::{Options, Server};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::channel;
use tempfile::TempDir;

pub(crate) fn run(args: &Serve) -> Result<ExitCode, Failure> {
    let film = args.film.as_deref();
    if let Some(film) = film.filter(|film| !film.is_file()) {
        return Err(Failure::new(format!(
            "{}: there is no such film; name a WebM file",
            film.display()
        )));
    }
    let broker = broker(args)?;
    if let Err(few) = server::raise_file_limit() {
        eprint(&format!("warning: {few}"));
    }
    let (dashboard, temporary) = dashboard(args)?;
    // First, before any client can connect.
    let protected = args.listen.map(|address| listen_on(address, "--listen")).transpose()?;
    let outside = args.bind.map(|address| listen_on(address, "--bind")).transpose()?;
    let listeners = listen(args.port)?;
    let port = listeners[0].local_addr().map_err(Failure::new)?.port();
    let (signal, stopped) = channel();
    // The receiver exists until the command ends, so sending fails only after that.
    ctrlc::set_handler(move || {
        let _ = signal.send(());
    })
    .map_err(Failure::new)?;
    let log = (!args.quiet).then(|| Arc::new(eprint) as _);
    let routes = broker.as_ref().map(Api::router).unwrap_or_default();
    let routes = Some(routes.merge(dashboard.router()));
    let options = Options { film: args.film.clone(), websocket: None, log, routes };
    let server = Server::start(listeners, options).map_err(Failure::new)?;
    let mut out = Output::new();
    out.line_at_once(format!("http://localhost:{port}"))?;
    if let (Some(listener), Some(path)) = (protected, &args.token_file) {
        let address = listener.local_addr().map_err(Failure::new)?;
        let token = file_token(path)?;
        server.add_protected(listener, dashboard.router(), token).map_err(Failure::new)?;
        out.line_at_once(format!("dashboard: http://{address}"))?;
    }
    if let (Some(listener), Some(broker)) = (outside, &broker) {
        let address = listener.local_addr().map_err(Failure::new)?;
        server
            .add_router(listener, broker.standalone_router(), broker.has_token())
            .map_err(Failure::new)?;
        out.line_at_once(format!("broker: http://{address}"))?;
    }
    stopped.recv().map_err(Failure::new)?;
    drop((server, dashboard, temporary));
    Ok(ExitCode::SUCCESS)
}

/// The dashboard, and the folder of its store if that is removed at the end.
fn dashboard(args: &Serve) -> Result<(Arc<Dashboard>, Option<TempDir>), Failure> {
    let folder = args.experiments.as_deref().map(Folder::open).transpose().map_err(Failure::new)?;
    let temporary = match &args.store {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("weir-serve-").tempdir()?),
    };
    let store = match (&args.store, &temporary) {
        (Some(path), _) => path.clone(),
        (None, Some(folder)) => folder.path().join("runs.sqlite"),
        (None, None) => unreachable!("one of both is there"),
    };
    let real_time = if args.allow_real { Some(std::env::current_exe()?) } else { None };
    let options = dashboard::Options {
        store,
        is_temporary: temporary.is_some(),
        folder,
        jobs: args.jobs.unwrap_or_else(all_cores),
        real_time,
        version: env!("WEIR_VERSION").to_owned(),
    };
    Ok((Dashboard::open(options).map_err(Failure::new)?, temporary))
}

/// The broker, if a file configures one.
fn broker(args: &Serve) -> Result<Option<Arc<Api>>, Failure> {
    let Some(path) = &args.broker else { return Ok(None) };
    let (config, mut exposed) = Config::open(path).map_err(Failure::new)?;
    let token = token(args)?;
    exposed.extend(args.token_file.as_deref().and_then(Exposed::find));
    exposed.iter().for_each(|exposed| eprint(&format!("warning: {exposed}")));
    if let Some(address) =
        args.bind.filter(|address| !address.ip().is_loopback() && token.is_none())
    {
        let suggestion = "give --token-file FILE, or set WEIR_BROKER_TOKEN";
        return Err(Failure::new(format!(
            "--bind {address}: an address other than loopback needs a token; {suggestion}"
        )));
    }
    Ok(Some(Api::new(Broker::new(config), token)))
}

/// The token from a file or from the environment, if there is one.
fn token(args: &Serve) -> Result<Option<Secret>, Failure> {
    match (&args.token_file, std::env::var("WEIR_BROKER_TOKEN")) {
        (Some(path), _) => file_token(path).map(Some),
        (None, Ok(word)) => checked_token("WEIR_BROKER_TOKEN", &word).map(Some),
        (None, Err(_)) => Ok(None),
    }
}

/// The token in a file.
fn file_token(path: &Path) -> Result<Secret, Failure> {
    let word = read_secret(path).map_err(|reason| format!("{}: {reason}", path.display()));
    checked_token(&path.display().to_string(), &word.map_err(Failure::new)?)
}

fn checked_token(from: &str, word: &str) -> Result<Secret, Failure> {
    let word = word.trim();
    if word.len() < MIN_TOKEN || !word.bytes().all(|byte| byte.is_ascii_graphic()) {
        let suggestion = "create one with 'openssl rand -hex 16'";
        return Err(Failure::new(format!(
            "{from}: a token has {MIN_TOKEN} letters and digits or more; {suggestion}"
        )));
    }
    Ok(Secret::new(word))
}

/// Listens on the address of an option.
fn listen_on(address: SocketAddr, option: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        let suggestion = match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!(
                    "; stop the program that listens there, or choose another port with {option}"
                )
            }
            io::ErrorKind::PermissionDenied => format!("; choose a port above 1023 with {option}"),
            io::ErrorKind::AddrNotAvailable => {
                "; 'ip address' lists the addresses of this machine".to_owned()
            }
            _ => String::new(),
        };
        Failure::new(format!("cannot listen on {address}: {error}{suggestion}"))
    })
}

/// Listens on both loopback addresses with the same port; on IPv4 only if there is no IPv6.
fn listen(port: u16) -> Result<Vec<TcpListener>, Failure> {
    let first = listen_on((Ipv4Addr::LOCALHOST, port).into(), "--port")?;
    let port = first.local_addr().map_err(Failure::new)?.port();
    let second = SocketAddr::from((Ipv6Addr::LOCALHOST, port));
    match TcpListener::bind(second) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            listen_on(second, "--port").map(|second| vec![first, second])
        }
        Err(_) => Ok(vec![first]),
        Ok(second) => Ok(vec![first, second]),
    }
}
