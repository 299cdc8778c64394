use std::borrow::Cow;
use std::str::FromStr;

/// `IFNAMSIZ` of Linux (`include/uapi/linux/if.h`): a name has fewer bytes, because a zero ends it.
const NAME_SIZE: usize = 16;

/// The name of a network device, to be printed in commands for a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device(String);

/// A word cannot be the name of a network device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a device has a name of 1 to {} bytes without '/', ':' and spaces; 'ip link' lists the devices",
    NAME_SIZE - 1
)]
pub(crate) struct NotADevice;

impl FromStr for Device {
    type Err = NotADevice;

    /// By the rule of Linux (`dev_valid_name` in `net/core/dev.c`), whose white space includes the
    /// byte 0xA0 (`lib/ctype.c`). Control characters are refused too: they cannot be printed.
    fn from_str(name: &str) -> Result<Self, NotADevice> {
        let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b || byte == 0xa0;
        let is_valid = (1..NAME_SIZE).contains(&name.len())
            && name != "."
            && name != ".."
            && !name.bytes().any(|byte| byte == b'/' || byte == b':' || is_space(byte))
            && matches!(document::shown::escaped(name), Cow::Borrowed(_));
        if is_valid { Ok(Self(name.to_owned())) } else { Err(NotADevice) }
    }
}

impl Device {
    /// The name as one word of a shell, in quotes if a character of it has a meaning there.
    pub(crate) fn word(&self) -> Cow<'_, str> {
        // Fails only for a zero byte, which is a control character.
        shlex::try_quote(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule_of_the_kernel_and_are_words_of_a_shell() {
        let word = |name: &str| name.parse::<Device>().map(|device| device.word().into_owned());
        for plain in ["eth0", "ppp0", "eth0.100", "br-lan", "wlp2s0_1", "abcdefghijklmno"] {
            assert_eq!(word(plain), Ok(plain.to_owned()));
        }
        assert_eq!(word("eth0;reboot"), Ok("'eth0;reboot'".to_owned()));
        assert_eq!(word("$(id)"), Ok("'$(id)'".to_owned()));
        assert_eq!(word("a'b"), Ok("\"a'b\"".to_owned()));
        assert_eq!(word("a#"), Ok("'a#'".to_owned()));
        for wrong in [
            "",
            ".",
            "..",
            "a/b",
            "a:1",
            "a b",
            "a\tb",
            "a\nb",
            "a\u{b}",
            "à",
            "abcdefghijklmnop",
            "a\u{1b}",
            "a\u{202e}",
        ] {
            assert_eq!(word(wrong), Err(NotADevice), "{wrong:?}");
        }
    }
}
