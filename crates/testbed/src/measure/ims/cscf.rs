//! Kamailio as P-, I- or S-CSCF.

use super::certificate::Certificate;
use super::double::PORT as DIAMETER;
use crate::diameter::Application;
use crate::measure::server_process::{
    ConfigurationError, ServerError, ServerProcess, ServerProgram,
};
use emulator::Host;
use server::Secret;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The program.
pub const PROGRAM: ServerProgram = ServerProgram {
    name: "kamailio",
    variable: "WEIR_KAMAILIO",
    suggestion: "install Kamailio and its modules for IMS (Debian: scripts/deps --ims)",
    role: "the call session control function",
    folder: "weir-cscf-",
};

/// The ports of SIP over UDP, and of WebSockets over TLS.
const PCSCF_PORT: u16 = 5_060;
const ICSCF_PORT: u16 = 4_060;
const SCSCF_PORT: u16 = 6_060;
/// The port of secure WebSockets.
pub(super) const WSS_PORT: u16 = 8_443;

const COMMON: &str = include_str!("templates/common.cfg");
const DIAMETER_XML: &str = include_str!("templates/diameter.xml");

/// The function that a Kamailio has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Proxy,
    Interrogating,
    Serving,
}

impl Role {
    const fn template(self) -> &'static str {
        match self {
            Self::Proxy => include_str!("templates/pcscf.cfg"),
            Self::Interrogating => include_str!("templates/icscf.cfg"),
            Self::Serving => include_str!("templates/scscf.cfg"),
        }
    }

    const fn port(self) -> u16 {
        match self {
            Self::Proxy => PCSCF_PORT,
            Self::Interrogating => ICSCF_PORT,
            Self::Serving => SCSCF_PORT,
        }
    }

    const fn application(self) -> Application {
        match self {
            Self::Proxy => Application::Rx,
            Self::Interrogating | Self::Serving => Application::Cx,
        }
    }
}

/// The names and addresses that the configurations of the CSCFs contain.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) domain: String,
    pub(super) icscf: String,
    pub(super) scscf: String,
    pub(super) hss: String,
    /// The host of the PCRF; `None`: the P-CSCF requests no bearers.
    pub(super) pcrf: Option<String>,
    pub(super) agw: Ipv4Addr,
    pub(super) control_port: u16,
}

/// The peer of a P-CSCF without a PCRF: its Diameter module needs one, and nothing listens there.
const NO_PEER: &str = "127.0.0.1";

/// The configuration of a CSCF: the texts of its files by name.
fn files(
    role: Role,
    host: &str,
    address: Ipv4Addr,
    folder: &Path,
    names: &Names,
) -> Vec<(&'static str, String)> {
    let peer: &str = match role {
        Role::Proxy => names.pcrf.as_deref().unwrap_or(NO_PEER),
        Role::Interrogating | Role::Serving => &names.hss,
    };
    let values = [
        ("HOST", host.to_owned()),
        ("ADDRESS", address.to_string()),
        ("PORT", role.port().to_string()),
        ("WSS_PORT", WSS_PORT.to_string()),
        ("PEER", peer.to_owned()),
        ("APPLICATION", role.application().id().to_string()),
        ("FOLDER", folder.display().to_string()),
        ("DOMAIN", names.domain.clone()),
        ("ICSCF", format!("{}:{ICSCF_PORT}", names.icscf)),
        ("AGW", names.agw.to_string()),
        ("NG_PORT", names.control_port.to_string()),
        ("RX", u8::from(names.pcrf.is_some()).to_string()),
    ];
    let fill = |template: String| {
        values
            .iter()
            .fold(template, |text, (name, value)| text.replace(&format!("%{name}%"), value))
    };
    let mut files = vec![
        ("kamailio.cfg", fill(format!("{COMMON}{}", role.template()))),
        ("diameter.xml", fill(DIAMETER_XML.to_owned())),
    ];
    if role == Role::Interrogating {
        files.extend(tables(&names.domain, &names.scscf));
    }
    files
}

/// The tables of the I-CSCF's module, for `db_text`: one S-CSCF with the only capability that the
/// HSS asks for.
fn tables(domain: &str, scscf: &str) -> [(&'static str, String); 4] {
    [
        (
            "db/version",
            "table_name(str) table_version(int)\nnds_trusted_domains|1\ns_cscf|1\n\
             s_cscf_capabilities|1\n"
                .to_owned(),
        ),
        ("db/nds_trusted_domains", format!("id(int) trusted_domain(str)\n1|{domain}\n")),
        (
            "db/s_cscf",
            format!("id(int) name(str) s_cscf_uri(str)\n1|{scscf}|sip:{scscf}:{SCSCF_PORT}\n"),
        ),
        ("db/s_cscf_capabilities", "id(int) id_s_cscf(int) capability(int)\n1|1|0\n".to_owned()),
    ]
}

/// Starts a CSCF on a host of this address, and waits until it listens for Diameter.
pub(super) fn start(
    role: Role,
    host: &Host,
    address: Ipv4Addr,
    names: &Names,
    certificate: &Certificate,
    secret: &Secret,
    cancel: &AtomicBool,
) -> Result<ServerProcess, ServerError> {
    let mut server = ServerProcess::start(PROGRAM, host, secret, |folder| {
        for name in ["db", "run"] {
            let path = folder.join(name);
            std::fs::create_dir(&path)
                .map_err(|error| ConfigurationError::Folder { path: path.clone(), error })?;
        }
        let mut texts = files(role, host.name(), address, folder, names);
        if role == Role::Proxy {
            texts.push(("certificate.pem", certificate.certificate.clone()));
            texts.push(("key.pem", certificate.key.clone()));
        }
        for (name, text) in texts {
            write(&folder.join(name), &text)?;
        }
        // 32 MB of shared and 4 MB of private memory suffice.
        let mut arguments: Vec<OsString> =
            ["-DD", "-E", "-e", "-m", "32", "-M", "4"].map(OsString::from).into();
        for (option, name) in [("-f", "kamailio.cfg"), ("-P", "pid"), ("-Y", "run")] {
            arguments.extend([OsString::from(option), folder.join(name).into_os_string()]);
        }
        Ok(arguments)
    })?;
    server.wait(cancel, || Ok(host.listens(DIAMETER)))?;
    Ok(server)
}

/// Writes a file that only its owner can read.
fn write(path: &Path, text: &str) -> Result<(), ConfigurationError> {
    let failed = |error| ConfigurationError::File { path: path.to_owned(), error };
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pcrf: Option<&str>) -> Names {
        Names {
            domain: "ims.test".to_owned(),
            icscf: "icscf".to_owned(),
            scscf: "scscf".to_owned(),
            hss: "hss".to_owned(),
            pcrf: pcrf.map(str::to_owned),
            agw: Ipv4Addr::new(10, 0, 0, 9),
            control_port: 2_223,
        }
    }

    #[test]
    fn no_placeholder_is_left_in_a_configuration() {
        let address = Ipv4Addr::new(10, 0, 0, 4);
        for role in [Role::Proxy, Role::Interrogating, Role::Serving] {
            for pcrf in [None, Some("pcrf")] {
                for (name, text) in files(role, "cscf", address, Path::new("/x"), &names(pcrf)) {
                    assert!(!text.contains('%'), "{role:?} {name}: {text}");
                }
            }
        }
    }

    #[test]
    fn a_p_cscf_asks_for_bearers_only_with_a_pcrf() {
        let text = |pcrf| {
            let address = Ipv4Addr::new(10, 0, 0, 4);
            let files = files(Role::Proxy, "pcscf", address, Path::new("/x"), &names(pcrf));
            files.into_iter().map(|(_, text)| text).collect::<String>()
        };
        let with = text(Some("pcrf"));
        assert!(with.contains("1 == 0") && with.contains("<Peer FQDN=\"pcrf\""), "{with}");
        assert!(text(None).contains("|| 0 == 0"));
    }
}
