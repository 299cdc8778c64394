//! A browser that tests drive (W3C WebDriver), with as much of the protocol as they need.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a condition may take to become true. A slow machine reads the browser from its disk.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two looks at the page.
const PAUSE: Duration = Duration::from_millis(50);

/// Chromium without a window, and its driver.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Where it saves files.
    pub(crate) downloads: tempfile::TempDir,
}

impl Browser {
    /// Starts both; `None`, with a line, where one of them is missing.
    pub(crate) fn start() -> Option<Self> {
        let named = |variable: &str, usual: &str| {
            std::env::var(variable).unwrap_or_else(|_| usual.to_owned())
        };
        let programs =
            [named("WEIR_CHROMIUM", "chromium"), named("WEIR_CHROMEDRIVER", "chromedriver")];
        let missing: Vec<&str> = programs
            .iter()
            .map(String::as_str)
            .filter(|program| which::which(program).is_err())
            .collect();
        if !missing.is_empty() {
            crate::common::note(&format!("skipped: needs {}", missing.join(", ")));
            return None;
        }
        let [browser, driver] = &programs;
        let mut command = Command::new(driver);
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command.spawn().unwrap();
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        // "ChromeDriver was started successfully on port 36789."
        let port = lines.map_while(Result::ok).find_map(|line| {
            line.rsplit_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        let downloads = tempfile::tempdir().unwrap();
        let mut this = Self { driver, port: port.unwrap(), session: String::new(), downloads };
        let options = json!({
            "binary": which::which(browser).unwrap(),
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-background-networking", "--window-size=1400,1000"],
            "prefs": {
                "download.default_directory": this.downloads.path(),
                // Several files without a question.
                "profile.default_content_setting_values.automatic_downloads": 1,
            },
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
        } } });
        let answer = this.ask("POST", "/session", &wanted);
        this.session = answer["sessionId"].as_str().unwrap().to_owned();
        Some(this)
    }

    /// Sends a command and gives the value of the answer; panics with the driver's words.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
            self.port,
            text.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The driver keeps connections open, so the length says where the answer ends.
        let mut stream = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            match line.trim().to_ascii_lowercase().split_once(':') {
                Some(("content-length", count)) => length = count.trim().parse().unwrap(),
                Some(_) => {}
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let mut value: Value = serde_json::from_slice(&body).unwrap();
        let value = value["value"].take();
        assert!(value.get("error").is_none_or(Value::is_null), "{method} {path}: {value}");
        value
    }

    fn command(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{path}", self.session), body)
    }

    pub(crate) fn open(&self, address: &str) {
        self.command("url", &json!({ "url": address }));
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> String {
        let path = format!("/session/{}/url", self.session);
        self.ask("GET", &path, &Value::Null).as_str().unwrap().to_owned()
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&self, expression: &str) -> Value {
        let script = format!("return {expression};");
        self.command("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&self, expression: &str) {
        let truth = format!("Boolean({expression})");
        self.wait_for(expression, || self.value(&truth) == true);
    }

    /// Waits until this becomes true.
    #[expect(clippy::disallowed_methods, reason = "a browser runs on the machine's time")]
    pub(crate) fn wait_for(&self, what: &str, mut is: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is() {
            let page = || self.value("document.body.innerText.slice(0, 2000)");
            assert!(begun.elapsed() < PATIENCE, "not within a minute: {what}\n{}", page());
            std::thread::sleep(PAUSE);
        }
    }

    /// Clicks the first element that this selects, once it is there.
    pub(crate) fn click(&self, selector: &str) {
        let found = format!("document.querySelector({})", json!(selector));
        self.wait(&format!("{found} && !{found}.disabled"));
        self.command("execute/sync", &json!({ "script": format!("{found}.click()"), "args": [] }));
    }

    /// Writes into a field, as a user who then leaves it.
    pub(crate) fn write(&self, selector: &str, text: &str) {
        let found = format!("document.querySelector({})", json!(selector));
        self.wait(&found);
        let script = format!(
            "const field = {found}; field.value = arguments[0]; \
             for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, {{ bubbles: true }}));"
        );
        self.command("execute/sync", &json!({ "script": script, "args": [text] }));
    }

    /// Presses the mouse in an element, moves it, and releases it; shares of the element's width.
    pub(crate) fn drag(&self, selector: &str, from: f64, to: f64) {
        self.wait(&format!("document.querySelector({})", json!(selector)));
        let place = self.value(&format!(
            "(() => {{ const one = document.querySelector({}); one.scrollIntoView({{ block: 'center' }}); \
             const box = one.getBoundingClientRect(); return [box.left, box.top + box.height / 2, box.width]; }})()",
            json!(selector)
        ));
        let [left, top, width] = [0, 1, 2].map(|index| place[index].as_f64().unwrap());
        let at = |share: f64| {
            json!({ "type": "pointerMove", "duration": 20,
                "x": (left + share * width).round(), "y": top.round() })
        };
        let actions = json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": [
            at(from), { "type": "pointerDown", "button": 0 }, at(f64::midpoint(from, to)), at(to),
            { "type": "pointerUp", "button": 0 },
        ] }] });
        self.command("actions", &actions);
    }

    /// The files that were saved completely, by name.
    pub(crate) fn saved(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.downloads.path()).unwrap().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| !name.ends_with(".crdownload") && !name.starts_with('.')).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        // The driver ends its browser.
        let _ = Command::new("kill").arg(self.driver.id().to_string()).status();
        let _ = self.driver.wait();
    }
}
