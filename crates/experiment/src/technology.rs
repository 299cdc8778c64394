/// A radio technology, as experiment files and errors name it.
pub(super) struct Technology {
    /// The key of a host, and the key at the top of a file: `wifi`.
    pub(super) key: &'static str,
    /// The name: `Wi-Fi`.
    pub(super) name: &'static str,
    /// What a section at the top of a file describes: `cell`.
    pub(super) section: &'static str,
    /// What a host is in: `a Wi-Fi cell`.
    pub(super) member_of: &'static str,
}
