//! A decoder accepts the frames.

use peer::Vp8Frames;
use std::io::Write;
use std::process::{Command, Stdio};

/// An IVF file: <https://wiki.multimedia.cx/index.php/Duck_IVF>.
fn ivf(frames: &Vp8Frames, sizes: &[(bool, usize)]) -> Vec<u8> {
    let (width, height) = frames.resolution();
    let mut file = b"DKIF\0\0\x20\0VP80".to_vec();
    for side in [width, height] {
        file.extend(&side.to_le_bytes()[..2]);
    }
    for word in [30, 1, sizes.len() as u32, 0] {
        file.extend(word.to_le_bytes());
    }
    for (at, (key, size)) in sizes.iter().enumerate() {
        let frame = frames.frame(*key, *size);
        file.extend((frame.len() as u32).to_le_bytes());
        file.extend((at as u64).to_le_bytes());
        file.extend(&frame[..]);
    }
    file
}

#[test]
fn ffmpeg_decodes_every_frame() {
    if Command::new("ffmpeg").arg("-version").output().is_err() {
        println!("skipped: no ffmpeg");
        return;
    }
    for (width, height) in [(640, 360), (480, 270), (320, 180), (1280, 720), (17, 1)] {
        let sizes = [(true, 0), (false, 0), (false, 2_000), (true, 9_000), (false, 300)];
        let args = ["-v", "warning", "-i", "-", "-f", "framemd5", "-"];
        let mut ffmpeg = Command::new("ffmpeg")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        ffmpeg
            .stdin
            .take()
            .unwrap()
            .write_all(&ivf(&Vp8Frames::new(width, height), &sizes))
            .unwrap();
        let output = ffmpeg.wait_with_output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && messages.is_empty(), "{width} × {height}: {messages}");
        let decoded = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| line.starts_with("0,"))
            .count();
        assert_eq!(decoded, sizes.len(), "{width} × {height}");
    }
}
