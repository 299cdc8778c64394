//! The program, five instructions long, that hands all packets of a device to an AF_XDP socket.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `BPF_MAP_CREATE`, `BPF_MAP_UPDATE_ELEM`, `BPF_PROG_LOAD` and `BPF_LINK_CREATE`.
const MAP_CREATE: i64 = 0;
const MAP_UPDATE: i64 = 2;
const PROGRAM_LOAD: i64 = 5;
const LINK_CREATE: i64 = 28;
/// `BPF_MAP_TYPE_XSKMAP`.
const SOCKET_MAP: u32 = 17;
/// `BPF_PROG_TYPE_XDP`, and `BPF_XDP` as what a link attaches.
const TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
/// The licence that a program names.
const LICENCE: &CStr = c"Dual MIT/GPL";

/// What keeps the program attached; all of it goes when this is dropped.
pub(crate) struct Attached {
    _map: OwnedFd,
    _program: OwnedFd,
    _link: OwnedFd,
}

/// Has the device with the number `index` give what it receives to `socket`; `mode` is one of
/// `XDP_FLAGS_*_MODE`.
pub(crate) fn attach(socket: &OwnedFd, index: u32, mode: u32) -> io::Result<Attached> {
    // Type of map, sizes of key and value, entries.
    let map = made(MAP_CREATE, &[SOCKET_MAP, 4, 4, 1])?;
    let (queue, value) = (0_u32, socket.as_raw_fd());
    let update = Update {
        map: map.as_raw_fd(),
        key: (&raw const queue) as u64,
        value: (&raw const value) as u64,
        flags: 0,
    };
    call(MAP_UPDATE, &update)?;
    let instructions = redirect(&map);
    let load = Load {
        kind: TYPE_XDP,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        licence: LICENCE.as_ptr() as u64,
    };
    let program = made(PROGRAM_LOAD, &load)?;
    // Program, device, what is attached, flags.
    let link = made(LINK_CREATE, &[program.as_raw_fd().cast_unsigned(), index, ATTACH_XDP, mode])?;
    Ok(Attached { _map: map, _program: program, _link: link })
}

/// `return bpf_redirect_map(map, packet->rx_queue_index, XDP_PASS)`; loading the map's address is
/// one instruction in two halves.
fn redirect(map: &OwnedFd) -> [u64; 6] {
    [
        instruction(0x61, 2, 1, 16, 0),
        instruction(0x18, 1, 1, 0, map.as_raw_fd()),
        instruction(0, 0, 0, 0, 0),
        instruction(0xb7, 3, 0, 0, 2),
        instruction(0x85, 0, 0, 0, 51),
        instruction(0x95, 0, 0, 0, 0),
    ]
}

/// One instruction: `struct bpf_insn`, on a little-endian machine.
fn instruction(code: u8, to: u8, from: u8, offset: u16, value: i32) -> u64 {
    u64::from(code)
        | u64::from(from << 4 | to) << 8
        | u64::from(offset) << 16
        | u64::from(value.cast_unsigned()) << 32
}

/// The part of `union bpf_attr` for `BPF_MAP_UPDATE_ELEM`.
#[repr(C, align(8))]
struct Update {
    map: i32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The beginning of `union bpf_attr` for `BPF_PROG_LOAD`.
#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
}

/// A call of `bpf` that makes something.
fn made<T>(command: i64, attributes: &T) -> io::Result<OwnedFd> {
    let fd = call(command, attributes)?;
    // SAFETY: the kernel just made `fd`, which has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A call of `bpf`; the kernel takes as zero what `attributes` leaves out at the end.
fn call<T>(command: i64, attributes: &T) -> io::Result<i32> {
    // SAFETY: `attributes` is of the length given, and its pointers, for these commands, are to
    // what lives meanwhile.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}
