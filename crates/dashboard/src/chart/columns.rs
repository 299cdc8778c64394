//! A head in JSON and columns of numbers in one message:
//!
//! ```text
//! u32, little-endian: length of the head in bytes, with the spaces after it
//! head: JSON, followed by spaces up to a multiple of 8 bytes from the start of the message
//! columns, one after the other: IEEE 754 doubles, little-endian; not-a-number for no value
//! ```

use serde::Serialize;

/// Columns of numbers, each equal one once.
#[derive(Debug, Default)]
pub(crate) struct Columns(Vec<Vec<f64>>);

impl Columns {
    /// Adds a column that others may share, such as times, and returns its index.
    pub(crate) fn add(&mut self, values: Vec<f64>) -> usize {
        match self.0.iter().position(|known| *known == values) {
            Some(known) => known,
            None => self.add_values(values),
        }
    }

    /// Adds a column that no other equals.
    pub(crate) fn add_values(&mut self, values: Vec<f64>) -> usize {
        self.0.push(values);
        self.0.len() - 1
    }

    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.0.iter().map(Vec::len).collect()
    }

    /// The message.
    pub(crate) fn encode(&self, head: &impl Serialize) -> Vec<u8> {
        // A head has strings, numbers and lists only, which all can be written.
        let head = serde_json::to_vec(head).unwrap_or_default();
        let padded = (4 + head.len()).next_multiple_of(8) - 4;
        let values: usize = self.0.iter().map(Vec::len).sum();
        let mut bytes = Vec::with_capacity(4 + padded + 8 * values);
        bytes.extend(u32::try_from(padded).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(&head);
        bytes.resize(4 + padded, b' ');
        self.0.iter().flatten().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_begin_at_a_multiple_of_eight_bytes_and_are_shared() {
        let mut columns = Columns::default();
        let times = columns.add(vec![0.5, 1.0]);
        assert_eq!((columns.add(vec![0.5, 1.0]), columns.add(vec![0.5])), (times, 1));
        for head in ["", "a", "ab", "abc", "abcdefgh"] {
            let bytes = columns.encode(&head);
            let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            assert_eq!((4 + length) % 8, 0);
            let text = std::str::from_utf8(&bytes[4..4 + length]).unwrap();
            assert_eq!(serde_json::from_str::<String>(text).unwrap(), head);
            let values = bytes[4 + length..].chunks(8);
            let values: Vec<f64> =
                values.map(|value| f64::from_le_bytes(value.try_into().unwrap())).collect();
            assert_eq!(values, [0.5, 1.0, 0.5]);
        }
    }
}
