//! What an experiment's source plots, as data.

use crate::document::{Fault, Reader};

/// One figure.
#[derive(Clone, Debug)]
pub struct Figure {}

pub(crate) fn read(top: &mut Reader<'_>) -> Result<Vec<Figure>, Fault> {
    top.node("figure");
    Ok(Vec::new())
}
