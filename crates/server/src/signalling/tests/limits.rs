use super::relay::join;
use super::{Message, PATIENCE, serve};
use crate::signalling::{
    CallRole, MAX_MESSAGE, MAX_NOTE, MAX_NOTES, MAX_STATS_MESSAGE, MESSAGE_BURST, PageEvent,
};
use serde_json::json;

#[test]
fn a_third_page_is_refused_because_the_room_is_full() {
    let served = serve();
    let mut first = served.enter("a");
    let opened = first.welcome();
    let mut second = served.follow("a", &opened);
    second.welcome();
    assert_eq!(served.follow("a", &opened).refused(), "room-full");
    let mut two = [first, second];
    // The two pages in the room are not disturbed.
    assert_eq!(two[0].hear()["type"], "peer-joined");
    two[1].say(&json!({"type": "bye"}));
    assert_eq!(two[0].hear()["type"], "bye");
}

#[test]
fn an_invalid_room_name_is_refused() {
    let served = serve();
    for name in ["A", "a_b", "%2e%2e", "a%20b", "a%2fb", "%3Cscript%3E", &"x".repeat(65)] {
        assert_eq!(served.enter(name).refused(), "room-name", "{name}");
    }
}

#[test]
fn invalid_messages_are_refused() {
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
        // Waits until the room is empty; otherwise the next page would meet this one.
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
fn the_length_of_messages_is_limited() {
    let served = serve();
    let offer = |length: usize| json!({"type": "offer", "sdp": "x".repeat(length)}).to_string();
    let mut page = served.enter("a");
    assert_eq!(page.hear()["type"], "welcome");
    page.send(offer(MAX_MESSAGE - 100)).unwrap();
    page.say(&json!({"type": "bye"}));
    // The server may close the connection before everything is sent.
    let _ = page.send(offer(MAX_MESSAGE));
    assert_eq!(page.refused(), "too-long");

    // In a measured call, only statistics may be longer.
    let measured = served.server.reserve_room("main", Default::default()).unwrap();
    let mut page = join(&served, &measured, CallRole::Caller);
    assert_eq!(page.hear()["type"], "welcome");
    let stats = json!({"long": {"type": "x".repeat(MAX_STATS_MESSAGE - 200)}});
    page.say(&json!({"type": "stats", "report": {"at": 0, "stats": stats}}));
    let event = measured.next(PATIENCE);
    assert!(matches!(event, Some((CallRole::Caller, PageEvent::Stats(_)))));
    page.send(offer(MAX_MESSAGE)).unwrap();
    assert_eq!(page.refused(), "too-long");
}

#[test]
fn a_page_that_sends_too_many_messages_is_refused() {
    let served = serve();
    let mut page = served.enter("a");
    assert_eq!(page.hear()["type"], "welcome");
    for _ in 0..2 * MESSAGE_BURST {
        // The server may close the connection before everything is sent.
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
fn notes_are_limited_in_number_and_length_and_printable() {
    let served = serve();
    let measured = served.server.reserve_room("main", Default::default()).unwrap();
    let mut page = join(&served, &measured, CallRole::Caller);
    assert_eq!(page.hear()["type"], "welcome");
    let note = format!("\u{1b}[2Ja\n{}", "b".repeat(2 * MAX_NOTE));
    for _ in 0..2 * MAX_NOTES {
        page.say(&json!({"type": "log", "message": note}));
    }
    page.say(&json!({"type": "bye"}));
    let next_event = || measured.next(PATIENCE).unwrap().1;
    let kept = format!("[2Ja{}", "b".repeat(MAX_NOTE - 4));
    for _ in 0..MAX_NOTES {
        assert_eq!(next_event(), PageEvent::Log(kept.clone()));
    }
    assert_eq!(next_event(), PageEvent::Bye);
}

#[test]
fn a_page_joins_its_room_only_with_hello() {
    let served = serve();
    let silent = [served.page("a"), served.page("a"), served.page("a")];
    assert_eq!(served.enter("a").hear()["peer"], false);
    drop(silent);
}
