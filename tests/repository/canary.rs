//! A listener that nobody is to call.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Counts who connects to a loopback port.
pub struct Canary {
    address: SocketAddr,
    calls: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

/// How the canary itself calls, to learn that all earlier calls were counted.
const ROLL_CALL: &str = "ROLL CALL";
const FAREWELL: &str = "FAREWELL";

impl Canary {
    /// Listens on a port, or on a free one if that is 0.
    pub fn start(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let written = calls.clone();
        let thread = std::thread::spawn(move || {
            // One after the other, in the order they came.
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
                let mut bytes = [0; 4096];
                let read = stream.read(&mut bytes).unwrap_or(0);
                let text = String::from_utf8_lossy(&bytes[..read]);
                let line = text.lines().next().unwrap_or_default();
                if line == FAREWELL {
                    return;
                }
                if line != ROLL_CALL {
                    written.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
                }
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\ncanary\n");
            }
        });
        Self { address, calls, thread: Some(thread) }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}/canary", self.address)
    }

    /// How many connections there were, with or without a request.
    pub fn connections(&self) -> usize {
        self.requests().len()
    }

    /// The first line of what was sent by each.
    pub fn requests(&self) -> Vec<String> {
        self.call(ROLL_CALL);
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn call(&self, line: &str) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.call(FAREWELL);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
