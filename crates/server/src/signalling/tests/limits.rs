use super::relay::sit;
use super::{Message, PATIENCE, serve};
use crate::signalling::{
    MAX_MESSAGE, MAX_NOTE, MAX_NOTES, MAX_ROOMS, MAX_STATS_MESSAGE, MESSAGE_BURST, PageEvent,
    RoomError, Seat,
};
use serde_json::json;

#[test]
fn a_third_visitor_is_told_that_the_room_is_full() {
    let served = serve();
    // One after the other: each connection is a task of its own, and the second could be heard
    // first.
    let mut two = [(); 2].map(|()| {
        let mut page = served.enter("a");
        assert_eq!(page.hear()["type"], "welcome");
        page
    });
    assert_eq!(served.enter("a").refused(), "room-full");
    // Nobody in the room has noticed.
    assert_eq!(two[0].hear()["type"], "peer-joined");
    two[1].say(&json!({"type": "bye"}));
    assert_eq!(two[0].hear()["type"], "bye");
}

#[test]
fn a_name_that_is_none_is_refused() {
    let served = serve();
    for name in ["A", "a_b", "%2e%2e", "a%20b", "a%2fb", "%3Cscript%3E", &"x".repeat(65)] {
        assert_eq!(served.enter(name).refused(), "room-name", "{name}");
    }
}

#[test]
fn there_are_only_so_many_rooms() {
    let served = serve();
    let mut pages: Vec<_> =
        (0..MAX_ROOMS).map(|number| served.enter(&format!("room-{number}"))).collect();
    pages.iter_mut().for_each(|page| assert_eq!(page.hear()["type"], "welcome"));
    assert_eq!(served.enter("one-more").refused(), "too-many-rooms");
    assert_eq!(
        served.server.measured("one-more", Default::default()).err(),
        Some(RoomError::TooMany)
    );
    // A room that was left is free again; its page may still be leaving.
    pages[0].0.close(None).unwrap();
    while pages[0].0.read().is_ok() {}
    drop(pages.remove(0));
    let free = (0..100).any(|_| served.enter("one-more").hear()["type"] == "welcome");
    assert!(free);
}

#[test]
fn messages_that_are_none_are_refused() {
    let served = serve();
    let bad = [
        "",
        "hello",
        "[]",
        r#"{"type":"offer"}"#,
        r#"{"type":"offer","sdp":1}"#,
        r#"{"type":"offer","sdp":"","more":1}"#,
        r#"{"type":"welcome","peer":true,"settings":null}"#,
        r#"{"type":"hello"}"#,
        r#"{"type":"ready"}"#,
        r#"{"type":"failed","message":""}"#,
        r#"{"type":"stats","report":{"at":0,"stats":{}}}"#,
    ];
    for text in bad {
        let mut page = served.enter("a-room");
        assert_eq!(page.hear()["type"], "welcome", "{text}");
        page.send(text.to_owned()).unwrap();
        assert_eq!(page.refused(), "bad-message", "{text}");
        // The room is empty again before the next enters it, or the two would meet.
        page.0.read().unwrap_err();
    }
    let mut binary = served.enter("b");
    assert_eq!(binary.hear()["type"], "welcome");
    binary.0.send(Message::binary(vec![1, 2, 3])).unwrap();
    assert_eq!(binary.refused(), "bad-message");
    let mut early = served.page("c");
    early.say(&json!({"type": "offer", "sdp": ""}));
    assert_eq!(early.refused(), "bad-message");
}

#[test]
fn messages_are_of_bounded_length() {
    let served = serve();
    let offer = |length: usize| json!({"type": "offer", "sdp": "x".repeat(length)}).to_string();
    let mut page = served.enter("a");
    assert_eq!(page.hear()["type"], "welcome");
    page.send(offer(MAX_MESSAGE - 100)).unwrap();
    page.say(&json!({"type": "bye"}));
    // The server may have closed before all was sent.
    let _ = page.send(offer(MAX_MESSAGE));
    assert_eq!(page.refused(), "too-long");

    // Statistics may be longer, other messages of a measured call not.
    let measured = served.server.measured("main", Default::default()).unwrap();
    let mut page = sit(&served, &measured, Seat::Caller, "caller");
    assert_eq!(page.hear()["type"], "welcome");
    let stats = json!({"long": {"type": "x".repeat(MAX_STATS_MESSAGE - 200)}});
    page.say(&json!({"type": "stats", "report": {"at": 0, "stats": stats}}));
    let told = measured.next(PATIENCE);
    assert!(matches!(told, Some((Seat::Caller, PageEvent::Stats(_)))));
    page.send(offer(MAX_MESSAGE)).unwrap();
    assert_eq!(page.refused(), "too-long");
}

#[test]
fn a_page_that_floods_is_turned_away() {
    let served = serve();
    let mut page = served.enter("a");
    assert_eq!(page.hear()["type"], "welcome");
    for _ in 0..2 * MESSAGE_BURST {
        // The server may have closed before all was sent.
        let _ = page.send(json!({"type": "bye"}).to_string());
    }
    assert_eq!(page.refused(), "too-fast");
    let mut silent = served.page("a");
    for _ in 0..2 * MESSAGE_BURST {
        let _ = silent.0.send(Message::Ping(vec![].into()));
    }
    assert_eq!(silent.refused(), "too-fast");
}

#[test]
fn a_page_that_talks_much_is_heard_in_part() {
    let served = serve();
    let measured = served.server.measured("main", Default::default()).unwrap();
    let mut page = sit(&served, &measured, Seat::Caller, "caller");
    assert_eq!(page.hear()["type"], "welcome");
    let note = format!("\u{1b}[2Ja\n{}", "b".repeat(2 * MAX_NOTE));
    for _ in 0..2 * MAX_NOTES {
        page.say(&json!({"type": "log", "message": note}));
    }
    page.say(&json!({"type": "bye"}));
    let told = || measured.next(PATIENCE).unwrap().1;
    let kept = format!("[2Ja{}", "b".repeat(MAX_NOTE - 4));
    for _ in 0..MAX_NOTES {
        assert_eq!(told(), PageEvent::Log(kept.clone()));
    }
    assert_eq!(told(), PageEvent::Bye);
}

#[test]
fn a_page_that_says_nothing_takes_no_seat() {
    let served = serve();
    let silent = [served.page("a"), served.page("a"), served.page("a")];
    assert_eq!(served.enter("a").hear()["peer"], false);
    drop(silent);
}
