use clap::Args;
use std::ffi::OsString;

/// The arguments of a command that this build does not contain.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Absent {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}
