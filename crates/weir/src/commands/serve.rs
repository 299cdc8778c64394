use super::eprint;
use crate::cli::Serve;
use crate::failure::Failure;
use crate::output::Output;
use lab::signalling::{Options, Server};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::channel;

pub(crate) fn run(args: &Serve) -> Result<ExitCode, Failure> {
    let film = args.film.as_deref();
    if let Some(film) = film.filter(|film| !film.is_file()) {
        return Err(Failure::new(format!("{}: there is no such film; name a WebM file", film.display())));
    }
    let listeners = listen(args.port)?;
    let port = listeners[0].local_addr().map_err(Failure::new)?.port();
    let (signal, stopped) = channel();
    // Only this sends, so it fails only when the command has ended already.
    ctrlc::set_handler(move || {
        let _ = signal.send(());
    })
    .map_err(Failure::new)?;
    let options = Options { film: args.film.clone(), log: (!args.quiet).then(|| Arc::new(eprint) as _) };
    let server = Server::start(listeners, options).map_err(Failure::new)?;
    Output::new().line_at_once(format!("http://localhost:{port}"))?;
    stopped.recv().map_err(Failure::new)?;
    drop(server);
    Ok(ExitCode::SUCCESS)
}

/// On both loopback addresses, with the same port; a machine without IPv6 has one.
fn listen(port: u16) -> Result<Vec<TcpListener>, Failure> {
    let on = |address: SocketAddr| {
        TcpListener::bind(address).map_err(|error| {
            let mend = match error.kind() {
                io::ErrorKind::AddrInUse => "; end what listens there, or choose another port with --port",
                io::ErrorKind::PermissionDenied => "; choose a port above 1023 with --port",
                _ => "",
            };
            Failure::new(format!("cannot listen on {address}: {error}{mend}"))
        })
    };
    let first = on((Ipv4Addr::LOCALHOST, port).into())?;
    let port = first.local_addr().map_err(Failure::new)?.port();
    let second = SocketAddr::from((Ipv6Addr::LOCALHOST, port));
    match TcpListener::bind(second) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            on(second).map(|second| vec![first, second])
        }
        Err(_) => Ok(vec![first]),
        Ok(second) => Ok(vec![first, second]),
    }
}
