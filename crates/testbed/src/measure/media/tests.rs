use super::*;
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

static GO_ON: AtomicBool = AtomicBool::new(false);
const SMALL: MediaSpec =
    MediaSpec { width: 64, height: 36, frame_rate: 5, video: None, audio: None };

fn frames(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let start = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[start..].chunks(64 * 36 * 3 / 2 + 6).map(<[u8]>::to_vec).collect()
}

fn has_ffmpeg() -> bool {
    let there = which::which("ffmpeg").is_ok();
    if !there {
        eprintln!("skipped: needs ffmpeg");
    }
    there
}

#[test]
fn a_loop_is_limited_by_its_file_size() {
    let frames =
        |width, height, frame_rate| MediaSpec { width, height, frame_rate, ..SMALL }.frames();
    assert_eq!(frames(640, 360, 30), 20 * 30);
    assert_eq!(frames(1280, 720, 30), 10 * 30);
    assert_eq!(frames(1920, 1080, 30), 4 * 30);
    assert_eq!(frames(3840, 2160, 60), 36, "which is not 2 s");
    assert!(frames(MAX_SIZE, MAX_SIZE, MAX_FRAME_RATE) >= 2);
}

#[test]
fn impossible_pictures_are_refused() {
    let cache = Cache::at(PathBuf::from("/nonexistent"));
    let said =
        |spec: MediaSpec| spec.prepare(&cache, false, &GO_ON, &|_| ()).unwrap_err().to_string();
    assert!(said(MediaSpec { width: 641, ..SMALL }).contains("641×36"));
    assert!(said(MediaSpec { frame_rate: 0, ..SMALL }).contains("0 frames/s"));
    let missing = MediaSpec { video: Some("no-such.mp4".into()), ..SMALL };
    assert!(said(missing).starts_with("no-such.mp4: No such file"));
}

#[test]
fn files_are_made_once_and_an_incomplete_file_again() {
    if !has_ffmpeg() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kept"));
    let made = RefCell::new(0);
    let prepare = || SMALL.prepare(&cache, true, &GO_ON, &|_| *made.borrow_mut() += 1).unwrap();
    let media = prepare();
    let film = media.webm.clone().unwrap();
    assert_eq!(*made.borrow(), 3);
    let shown = frames(&media.y4m);
    assert_eq!(shown.len(), 5 * 20, "the picture repeats after 20 s");
    assert_eq!(shown[1], shown[99], "the second half is the first in reverse");
    assert_ne!(shown[0], shown[50]);
    assert_eq!(
        fs::metadata(&*media.wav).unwrap().len().div_ceil(96_000),
        21,
        "20 s of 48 kHz and 16 bits, and a header"
    );
    assert_eq!(&fs::read(&*film).unwrap()[..4], [0x1a, 0x45, 0xdf, 0xa3], "EBML, as WebM begins");
    assert_eq!((prepare(), *made.borrow()), (media.clone(), 3));
    let whole = fs::read(&*media.y4m).unwrap();
    fs::write(&*media.y4m, &whole[..whole.len() - 100]).unwrap();
    prepare();
    assert!(fs::read(&*media.y4m).unwrap() == whole, "the same scene again");
    assert_eq!(
        fs::read_dir(folder.path().join("kept")).unwrap().count() as u64,
        *made.borrow() - 1
    );
}

#[test]
fn sounds_of_different_lengths_are_different_files() {
    if !has_ffmpeg() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kept"));
    // The name is not that of a WAVE file, so the file is converted.
    let riff = folder.path().join("sound.riff");
    let own = SMALL.prepare(&cache, false, &GO_ON, &|_| ()).unwrap();
    fs::copy(&*own.wav, &riff).unwrap();
    let maker = MediaMaker { cache: &cache, progress: &|_| (), cancel: &GO_ON };
    let length =
        |spec: MediaSpec| fs::metadata(&*spec.sound(&maker).unwrap()).unwrap().len() / 96_000;
    let [short, long] = [1080, 360].map(|height| MediaSpec {
        width: height * 16 / 9,
        height,
        frame_rate: 30,
        audio: Some(riff.clone()),
        video: None,
    });
    assert_eq!((length(short), length(long)), (4, 20));
}

#[test]
fn making_a_file_can_be_cancelled_and_made_files_are_readable() {
    if !has_ffmpeg() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().to_owned());
    let made = || fs::read_dir(folder.path()).unwrap().flatten();
    let cancelled = SMALL.prepare(&cache, false, &AtomicBool::new(true), &|_| ()).unwrap_err();
    assert_eq!((cancelled.to_string().as_str(), made().count()), ("cancelled", 0));
    SMALL.prepare(&cache, false, &GO_ON, &|_| ()).unwrap();
    for file in made() {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644, "{file:?}");
    }
}

#[test]
fn a_users_files_are_used_or_converted() {
    if !has_ffmpeg() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kept"));
    let own = SMALL.prepare(&cache, true, &GO_ON, &|_| ()).unwrap();
    let [video, audio] = [&own.y4m, &own.wav].map(|file| Some(file.to_path_buf()));
    let as_they_are = MediaSpec { video, audio, ..SMALL };
    let used = as_they_are.prepare(&cache, false, &GO_ON, &|_| ()).unwrap();
    assert_eq!((&used.y4m, &used.wav, &used.webm), (&own.y4m, &own.wav, &None));
    let larger =
        MediaSpec { width: 128, height: 72, ..as_they_are }.prepare(&cache, false, &GO_ON, &|_| ());
    assert!(
        larger.unwrap().description.contains(".y4m 64×36 at 5 frames/s; "),
        "what the file says"
    );
    let film = own.webm.unwrap().to_path_buf();
    let converted = MediaSpec { video: Some(film.clone()), audio: Some(film), ..SMALL };
    let media = converted.prepare(&cache, false, &GO_ON, &|_| ()).unwrap();
    assert_eq!(frames(&media.y4m).len(), 100);
    assert!(media.description.contains(".webm 64×36 at 5 frames/s"), "{}", media.description);
    let text = ["not.y4m", "not.wav"].map(|name| folder.path().join(name));
    text.iter().for_each(|path| fs::write(path, "hello").unwrap());
    let [video, audio] = text.map(Some);
    for (spec, wanted) in [
        (MediaSpec { video, ..SMALL }, "not.y4m: is not a YUV4MPEG2 file"),
        (MediaSpec { audio, ..SMALL }, "not.wav: is not a WAVE file"),
    ] {
        let refused = spec.prepare(&cache, false, &GO_ON, &|_| ()).unwrap_err();
        assert!(refused.to_string().ends_with(wanted), "{refused}");
    }
}
