//! The programs and abilities that real runs need.

use super::{Finding, Health, Tool, program};
use testbed::emulate::Ability;
use testbed::measure::browser::Program;
use testbed::measure::{relay, sfu};

pub(super) fn findings() -> Vec<Finding> {
    let abilities = testbed::emulate::abilities();
    let programs = Program::ALL.map(browser).into_iter().chain([coturn(), janus()]);
    programs.chain(abilities.into_iter().map(ability)).collect()
}

/// A browser or its driver, looked for as a measurement does.
fn browser(wanted: Program) -> Finding {
    let needed_for = match wanted {
        Program::Chromium => "weir measure; looking at reports as pictures",
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

/// The media relay, looked for as a measurement does.
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

/// The forwarding unit, looked for as a measurement does.
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

/// What an emulation uses, tried.
fn ability(ability: Ability) -> Finding {
    let there = ability.found.is_ok();
    let needed_for = match ability.what {
        "network namespaces" | "TUN devices" => "weir emulate, weir measure",
        _ => "weir emulate",
    };
    Finding {
        what: ability.what,
        status: if there { Health::Good } else { Health::Missing },
        found: ability.found.unwrap_or_else(|said| said),
        needed_for,
        suggestion: if there { "" } else { ability.mend },
    }
}
