use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static ASKED: RefCell<Option<BTreeSet<(String, &'static str)>>> = const { RefCell::new(None) };
}

/// Runs `read` and returns every key that a [`Reader`](crate::Reader) asked for on this thread,
/// with the path of its table. A test compares them with a schema.
pub fn asked_keys(read: impl FnOnce()) -> BTreeSet<(String, &'static str)> {
    ASKED.set(Some(BTreeSet::new()));
    read();
    ASKED.take().unwrap_or_default()
}

/// Notes that the table at `path` was asked for `key`.
pub(super) fn note(path: &str, key: &'static str) {
    ASKED.with_borrow_mut(|asked| {
        if let Some(asked) = asked {
            asked.insert((path.to_owned(), key));
        }
    });
}
