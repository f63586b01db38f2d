//! Answers that no HTTP library would give: written to the socket by hand.

use super::fault::Fault;
use super::log::Writing;
use super::wire::Socket;
use flate2::{Compress, Compression, Crc, FlushCompress};
use std::future::pending;
use std::io;
use std::time::Duration;
use tokio::time::sleep;

/// Gives the answer with `body` wrongly. The connection is of no use afterwards.
pub async fn misbehave(socket: &Socket, fault: Fault, body: &[u8], trickle: Duration, log: &Writing<'_>) {
    socket.take();
    // A client that hangs up in the middle has had enough; that is not our concern.
    let _ = Misbehaving { socket, log }.perform(fault, body, trickle).await;
}

struct Misbehaving<'a> {
    socket: &'a Socket,
    log: &'a Writing<'a>,
}

impl Misbehaving<'_> {
    async fn perform(&self, fault: Fault, body: &[u8], trickle: Duration) -> io::Result<()> {
        let length = body.len();
        let half = &body[..length / 2];
        match fault {
            Fault::HangUp => Ok(()),
            Fault::Silence => pending().await,
            Fault::TimeoutBody => {
                self.head(&content_length(length)).await?;
                pending().await
            }
            Fault::Trickle => {
                self.head(&content_length(length)).await?;
                for byte in body {
                    self.send(&[*byte]).await?;
                    sleep(trickle).await;
                }
                Ok(())
            }
            Fault::ContentLengthShort => {
                self.head(&content_length(length - length / 4)).await?;
                self.send(body).await
            }
            Fault::ContentLengthLong => {
                self.head(&content_length(length + 1000)).await?;
                self.send(body).await
            }
            Fault::ConnectionReset => {
                self.head(&content_length(length)).await?;
                self.send(half).await?;
                // What the client has not taken yet would be lost with the reset.
                sleep(Duration::from_millis(20)).await;
                self.socket.reset_on_close()
            }
            Fault::InfiniteBody => self.endless_records(half).await,
            Fault::GzipBomb => self.bomb().await,
            Fault::HeaderFlood => self.header_flood(body).await,
            other => panic!("{} can be done by a library", other.name()),
        }
    }

    async fn head(&self, headers: &str) -> io::Result<()> {
        self.log.note(|entry| entry.status = 200);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=utf-8\r\n{headers}\r\n");
        self.socket.write(head.as_bytes()).await
    }

    async fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write(bytes).await?;
        self.log.note(|entry| entry.sent += bytes.len() as u64);
        Ok(())
    }

    async fn endless_records(&self, half_a_page: &[u8]) -> io::Result<()> {
        self.head("Connection: close\r\n").await?;
        let text = String::from_utf8_lossy(half_a_page);
        let begin = text.find("    <record>").unwrap_or(text.len());
        let end = text.rfind("    <record>").unwrap_or(text.len());
        self.send(&text.as_bytes()[..begin]).await?;
        let record = match &text[begin..end] {
            "" => "    <record></record>\n",
            records => records,
        };
        let many = record.repeat(1 + 65_536 / record.len());
        loop {
            self.send(many.as_bytes()).await?;
        }
    }

    /// One member of gzip: the begin of a page and 10 GB of spaces.
    async fn bomb(&self) -> io::Result<()> {
        const SPACES: usize = 1 << 20;
        const TIMES: u64 = 10_240;
        let begin = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                      <OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\">";
        let spaces = vec![b' '; SPACES];
        self.head("Content-Encoding: gzip\r\nConnection: close\r\n").await?;
        self.send(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]).await?;
        self.send(&block(begin)).await?;
        let block = block(&spaces);
        let mut crc = Crc::new();
        crc.update(begin);
        let mut one = Crc::new();
        one.update(&spaces);
        for _ in 0..TIMES {
            self.send(&block).await?;
            crc.combine(&one);
        }
        // An empty last block, then checksum and length, all as they should be.
        let length = begin.len() as u64 + TIMES * SPACES as u64;
        self.send(&[3, 0]).await?;
        self.send(&crc.sum().to_le_bytes()).await?;
        self.send(&(length as u32).to_le_bytes()).await
    }

    async fn header_flood(&self, body: &[u8]) -> io::Result<()> {
        self.socket.write(b"HTTP/1.1 200 OK\r\n").await?;
        for thousand in 0..100 {
            let headers: String = (0..1000)
                .map(|number| format!("X-Flood-{}: {number}\r\n", 1000 * thousand + number))
                .collect();
            self.send(headers.as_bytes()).await?;
        }
        self.head(&content_length(body.len())).await?;
        self.send(body).await
    }
}

fn content_length(length: usize) -> String {
    format!("Content-Length: {length}\r\n")
}

/// Deflated bytes that can stand after any others: they end at a byte and look back at nothing.
fn block(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 100 + 1024);
    let mut deflate = Compress::new(Compression::best(), false);
    deflate.compress_vec(bytes, &mut out, FlushCompress::Full).unwrap();
    assert_eq!(deflate.total_in(), bytes.len() as u64, "the block was cut");
    out
}
