use super::{PATIENCE, Page, Served, serve};
use crate::IceServer;
use crate::signalling::{CallRole, CallSettings, MeasuredRoom, PageEvent, RoomError};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpListener;
use std::time::Duration;
use tokio_tungstenite::tungstenite::Error;

/// The key in the address of a role's page.
fn key(measured: &MeasuredRoom, role: CallRole) -> String {
    measured.path(role).split_once('#').unwrap().1.to_owned()
}

fn hello(measured: &MeasuredRoom, role: CallRole) -> Value {
    json!({"type": "hello", "role": role.as_str(), "key": key(measured, role)})
}

pub(super) fn join(served: &Served, measured: &MeasuredRoom, role: CallRole) -> Page {
    let mut page = served.page("main");
    page.say(&hello(measured, role));
    page
}

#[test]
fn two_pages_of_a_room_receive_each_others_messages() {
    let served = serve();
    let mut first = served.enter("monday");
    let opened = first.welcome();
    let key = &opened["key"];
    let welcome =
        |peer| json!({"type": "welcome", "peer": peer, "settings": null, "key": key.clone()});
    assert_eq!(opened, welcome(false));
    let mut second = served.follow("monday", &opened);
    assert_eq!(second.hear(), welcome(true));
    assert_eq!(first.hear(), json!({"type": "peer-joined"}));

    let candidate = json!({"candidate": "candidate:1 1 udp 1 10.0.0.1 9 typ host", "sdpMid": "0",
        "sdpMLineIndex": 0, "usernameFragment": "x"});
    for message in [
        json!({"type": "offer", "sdp": "v=0"}),
        json!({"type": "candidate", "candidate": candidate}),
        json!({"type": "bye"}),
    ] {
        first.say(&message);
        assert_eq!(second.hear(), message);
    }
    second.say(&json!({"type": "answer", "sdp": "v=0 "}));
    assert_eq!(first.hear(), json!({"type": "answer", "sdp": "v=0 "}));
    drop(first);
    assert_eq!(second.hear(), json!({"type": "peer-left"}));

    let mut third = served.follow("monday", &opened);
    assert_eq!(third.hear()["peer"], true);
    assert_eq!(second.hear(), json!({"type": "peer-joined"}));
}

#[test]
fn messages_stay_within_their_room() {
    let served = serve();
    let [(page_a, opened_a), (page_b, opened_b)] = ["a", "b"].map(|room| {
        let mut page = served.enter(room);
        let opened = page.welcome();
        (page, opened)
    });
    let others = [("a", opened_a), ("b", opened_b)].map(|(room, opened)| {
        let mut page = served.follow(room, &opened);
        page.welcome();
        page
    });
    let [other_a, other_b] = others;
    let mut pages = [page_a, page_b, other_a, other_b];
    assert_eq!(pages[0].hear()["type"], "peer-joined");
    assert_eq!(pages[1].hear()["type"], "peer-joined");
    pages[0].say(&json!({"type": "offer", "sdp": "of a"}));
    pages[1].say(&json!({"type": "offer", "sdp": "of b"}));
    // A message that leaked from the other room would arrive first.
    pages[3].say(&json!({"type": "answer", "sdp": "of b"}));
    assert_eq!(pages[3].hear(), json!({"type": "offer", "sdp": "of b"}));
    assert_eq!(pages[1].hear(), json!({"type": "answer", "sdp": "of b"}));
    assert_eq!(pages[2].hear(), json!({"type": "offer", "sdp": "of a"}));
}

#[test]
fn listeners_share_the_rooms() {
    let served = serve();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    served.server.add_listener(listener).unwrap();
    let Served { server, log, .. } = serve();
    let second = Served { server, address, log };
    let mut first = served.enter("a");
    let opened = first.welcome();
    assert_eq!(second.follow("a", &opened).hear()["peer"], true);
    assert_eq!(first.hear()["type"], "peer-joined");
}

#[test]
fn a_run_controls_a_measured_call_and_receives_its_events() {
    let served = serve();
    let settings = [
        CallSettings { audio: true, stats_interval: 500, ..CallSettings::default() },
        CallSettings { relay: true, ..CallSettings::default() },
    ];
    let measured = served.server.reserve_room("main", settings.clone()).unwrap();
    assert!(measured.path(CallRole::Caller).starts_with("/call?room=main&role=caller#"));
    let mut pages = CallRole::ALL.map(|role| {
        let mut page = join(&served, &measured, role);
        // Waits until this page has joined: each connection is a task of its own, so the server
        // could otherwise handle the second page first.
        let received: CallSettings =
            serde_json::from_value(page.hear()["settings"].clone()).unwrap();
        assert_eq!(received, settings[role.index()]);
        page.say(&json!({"type": "ready"}));
        page
    });
    assert_eq!(pages[0].hear()["type"], "peer-joined");
    let ready = [measured.next(PATIENCE).unwrap(), measured.next(PATIENCE).unwrap()];
    assert!(
        CallRole::ALL.iter().all(|role| ready.contains(&(*role, PageEvent::Ready))),
        "{ready:?}"
    );

    measured.start(1_000.5);
    measured.stop();
    for page in &mut pages {
        assert_eq!(page.hear(), json!({"type": "start", "epoch": 1000.5}));
        assert_eq!(page.hear(), json!({"type": "stop"}));
    }
    let stat = json!({"type": "codec", "timestamp": 1.5});
    let callee = &mut pages[1];
    callee.say(&json!({"type": "connection-state", "state": "connected"}));
    callee.say(&json!({"type": "stats", "report": {"at": 2.5, "stats": {"C1": stat}}}));
    callee.say(&json!({"type": "log", "message": "a note"}));
    callee.say(&json!({"type": "failed", "message": "no camera"}));
    callee.say(&json!({"type": "bye"}));
    let events: Vec<_> = (0..5).map(|_| measured.next(PATIENCE).unwrap().1).collect();
    let PageEvent::Stats(report) = &events[1] else { panic!("{events:?}") };
    assert_eq!((report.at, &report.stats["C1"]), (2.5, &stat));
    assert_eq!(events[0], PageEvent::ConnectionState("connected".to_owned()));
    assert_eq!(events[2], PageEvent::Log("a note".to_owned()));
    assert_eq!(events[3], PageEvent::Failed("no camera".to_owned()));
    assert_eq!(events[4], PageEvent::Bye);
    assert_eq!(measured.next(Duration::ZERO), None);

    let [mut caller, callee] = pages;
    drop(callee);
    assert_eq!(measured.next(PATIENCE), Some((CallRole::Callee, PageEvent::Left)));
    assert_eq!(caller.hear()["type"], "peer-left");
    drop(measured);
    assert_eq!(caller.refused(), "over");
}

#[test]
fn who_knows_only_the_name_of_a_room_cannot_join() {
    let served = serve();
    let mut first = served.enter("monday");
    let opened = first.welcome();
    let key = opened["key"].as_str().unwrap();
    assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "128 bits: {key}");
    let wrong = "0".repeat(32);
    for key in [None, Some(""), Some(&key[1..]), Some(&key.to_uppercase()), Some(wrong.as_str())] {
        let mut stranger = served.page("monday");
        stranger.say(&json!({"type": "hello", "key": key}));
        assert_eq!(stranger.refused(), "no-key", "{key:?}");
    }
    let mut stranger = served.page("monday");
    stranger.say(&json!({"type": "hello", "role": "callee", "key": key}));
    assert_eq!(stranger.refused(), "no-key");
    // The page in the room has noticed nothing.
    assert_eq!(served.follow("monday", &opened).hear()["peer"], true);
    assert_eq!(first.hear()["type"], "peer-joined");
    assert_ne!(served.enter("tuesday").welcome()["key"], opened["key"]);
}

#[test]
fn a_link_leads_to_its_room_again_after_all_have_left() {
    let opened = serve().enter("monday").welcome();
    // Another server, as after a restart.
    let served = serve();
    let mut first = served.follow("monday", &opened);
    let again = first.welcome();
    assert_eq!((&again["key"], &again["peer"]), (&opened["key"], &json!(false)));
    assert_eq!(served.follow("monday", &opened).hear()["peer"], true);
    assert_eq!(first.hear()["type"], "peer-joined");
    assert_eq!(served.enter("monday").refused(), "no-key");
    let mut short = served.page("tuesday");
    short.say(&json!({"type": "hello", "key": "0123456789abcdef"}));
    assert_eq!(short.refused(), "no-key", "a key that the server did not make");
}

#[test]
fn a_measured_call_requires_the_key_of_the_role() {
    let served = serve();
    let measured = served.server.reserve_room("main", Default::default()).unwrap();
    let (caller, callee) = (key(&measured, CallRole::Caller), key(&measured, CallRole::Callee));
    assert!(caller.len() == 32 && caller != callee);
    for hello in [
        json!({"type": "hello"}),
        json!({"type": "hello", "key": caller}),
        json!({"type": "hello", "role": "caller"}),
        json!({"type": "hello", "role": "caller", "key": ""}),
        json!({"type": "hello", "role": "caller", "key": callee}),
    ] {
        let mut page = served.page("main");
        page.say(&hello);
        assert_eq!(page.refused(), "no-key", "{hello}");
    }
    let mut right = join(&served, &measured, CallRole::Caller);
    assert_eq!(right.hear()["type"], "welcome");
    assert_eq!(join(&served, &measured, CallRole::Caller).refused(), "room-full");

    let again = |room: &str| served.server.reserve_room(room, Default::default()).err();
    assert_eq!(again("main"), Some(RoomError::Taken("main".to_owned())));
    assert_eq!(again("No"), Some(RoomError::Name("No".to_owned())));
}

#[test]
fn a_dropped_server_closes_its_connections_within_seconds() {
    let served = serve();
    let mut page = served.enter("a");
    assert_eq!(page.hear()["type"], "welcome");
    page.0.get_ref().set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    drop(served);
    match page.0.read() {
        Err(Error::Io(error)) => assert_ne!(error.kind(), ErrorKind::WouldBlock),
        other => {
            assert!(
                matches!(other, Err(Error::Protocol(_) | Error::ConnectionClosed)),
                "{other:?}"
            );
        }
    }
}

#[test]
fn logs_contain_no_secrets() {
    let served = serve();
    let server = IceServer {
        urls: vec!["turn:192.0.2.1".to_owned()],
        username: Some("secret-user".to_owned()),
        credential: Some("secret-password".to_owned()),
    };
    let settings = CallSettings { ice_servers: vec![server], ..CallSettings::default() };
    assert!(!format!("{settings:?}").contains("secret"), "{settings:?}");
    let measured = served.server.reserve_room("main", [settings.clone(), settings]).unwrap();
    let mut page = join(&served, &measured, CallRole::Caller);
    assert_eq!(page.hear()["settings"]["iceServers"][0]["credential"], "secret-password");
    page.say(&json!({"type": "offer", "sdp": "a=ice-pwd:secret"}));
    page.say(&json!({"type": "answer", "sdp": 7, "secret": "secret"}));
    assert_eq!(page.refused(), "bad-message");
    drop(page);
    assert_eq!(measured.next(PATIENCE), Some((CallRole::Caller, PageEvent::Left)));
    let secret = key(&measured, CallRole::Caller);
    drop((measured, served.server));
    let log = served.log.lock().unwrap();
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log.iter().all(|line| !line.contains("secret") && !line.contains(&secret)), "{log:?}");
}
