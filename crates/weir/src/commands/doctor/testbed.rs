//! The programs and abilities that real runs need.

use super::{Finding, Health, Tool, program};
use sysinfo::{Disks, System};
use testbed::emulate::Ability;
use testbed::measure::browser::Program;
use testbed::measure::{ims, relay, sfu};

/// The disk space that the C claims with a store and a report need, rounded up.
const MIN_DISK: u64 = 1 << 30;

pub(super) fn findings() -> Vec<Finding> {
    let abilities = testbed::emulate::abilities();
    let programs =
        Program::ALL.map(browser).into_iter().chain([coturn(), janus(), kamailio(), rtpengine()]);
    let machine = [memory(), disk()].into_iter();
    machine.chain(programs).chain(abilities.into_iter().map(ability)).collect()
}

fn memory() -> Finding {
    let found = System::new().map_or("unknown".to_owned(), |mut system| {
        system.refresh_memory();
        format!("{} MB, {} MB free", system.total_memory() >> 20, system.available_memory() >> 20)
    });
    Finding { what: "memory", status: Health::Good, found, needed_for: "runs", suggestion: "" }
}

/// The free space of the current folder's disk.
fn disk() -> Finding {
    let here = std::env::current_dir().unwrap_or_default();
    let disks = Disks::new_with_refreshed_list().ok();
    let holds = |disk: &&sysinfo::Disk| here.starts_with(disk.mount_point());
    let holding = disks.iter().flat_map(|disks| disks.iter()).filter(holds);
    let free = holding
        .max_by_key(|disk| disk.mount_point().as_os_str().len())
        .map(sysinfo::Disk::available_space);
    let enough = free.is_none_or(|free| free >= MIN_DISK);
    Finding {
        what: "disk",
        status: if enough { Health::Good } else { Health::Missing },
        found: free.map_or("unknown".to_owned(), |free| format!("{} MB free here", free >> 20)),
        needed_for: "stores, exports, reports",
        suggestion: if enough { "" } else { "free 1 GB, or use another folder" },
    }
}

/// A browser or its driver, found as by a measurement.
fn browser(wanted: Program) -> Finding {
    let needed_for = match wanted {
        Program::Chromium => "weir measure; screenshots of reports",
        _ => "weir measure",
    };
    let tool = Tool {
        names: wanted.names(),
        version: "--version",
        needed_for,
        suggestion: wanted.suggestion(),
    };
    program(wanted.find().as_deref(), &tool)
}

/// The media relay, found as by a measurement.
fn coturn() -> Finding {
    let needed_for = "measured calls with a relay";
    let tool = Tool {
        names: &[relay::PROGRAM.name],
        version: "--version",
        needed_for,
        suggestion: relay::PROGRAM.suggestion,
    };
    program(relay::PROGRAM.find().as_deref(), &tool)
}

/// The forwarding unit, found as by a measurement.
fn janus() -> Finding {
    let needed_for = "conferences with topology = \"sfu\"";
    let tool = Tool {
        names: &[sfu::PROGRAM.name],
        version: "--help",
        needed_for,
        suggestion: sfu::PROGRAM.suggestion,
    };
    program(sfu::PROGRAM.find().as_deref(), &tool)
}

/// The call session control functions of an IMS, found as by a measurement.
fn kamailio() -> Finding {
    let tool = Tool {
        names: &[ims::CSCF_PROGRAM.name],
        version: "-v",
        needed_for: "calls through an IMS",
        suggestion: ims::CSCF_PROGRAM.suggestion,
    };
    program(ims::CSCF_PROGRAM.find().as_deref(), &tool)
}

/// The access gateway of an IMS, found as by a measurement.
fn rtpengine() -> Finding {
    let tool = Tool {
        names: &[ims::GATEWAY_PROGRAM.name],
        version: "--version",
        needed_for: "calls through an IMS",
        suggestion: ims::GATEWAY_PROGRAM.suggestion,
    };
    program(ims::GATEWAY_PROGRAM.find().as_deref(), &tool)
}

/// An ability of the system that an emulation uses, as tried.
fn ability(ability: Ability) -> Finding {
    let there = ability.found.is_ok();
    let needed_for = match ability.what {
        "network namespaces" | "TUN devices" => "weir emulate, weir measure",
        _ => "weir emulate",
    };
    Finding {
        what: ability.what,
        status: if there { Health::Good } else { Health::Missing },
        found: ability.found.unwrap_or_else(|error| error.to_string()),
        needed_for,
        suggestion: if there { "" } else { ability.fix },
    }
}
