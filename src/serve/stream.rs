//! A connection's bytes: nobody reads an answer for ever, and nobody loses it by writing on.
//!
//! Reading is bounded elsewhere (heads by hyper, bodies by [`BodyLimit`]). Two things are left.
//! A client that takes no byte of its answer for the idle time is cut off. And a connection that
//! is closed while its client still sends must not be reset, or the client never sees the answer
//! that says why: the end is announced, and what comes is thrown away for a moment.
//!
//! [`BodyLimit`]: super::limits::BodyLimit

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// How long what still comes is thrown away, and how much of it at a time.
const LINGER: Duration = Duration::from_secs(2);
const SCRAP: usize = 16 * 1024;

pub struct Stream {
    inner: TcpStream,
    idle: Duration,
    /// Runs while the client takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Runs once the end was announced.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    pub fn new(inner: TcpStream, idle: Duration) -> Self {
        Self { inner, idle, stalled: None, lingering: None }
    }

    /// Passes on what writing gave; an error once it has given nothing for too long.
    fn watch<T>(&mut self, written: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let idle = self.idle;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(idle)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.watch(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, pieces);
        self.watch(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.watch(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            let closed = Pin::new(&mut self.inner).poll_shutdown(cx);
            ready!(self.watch(closed, cx))?;
            self.lingering = Some(Box::pin(sleep(LINGER)));
        }
        let mut scrap = [0; SCRAP];
        loop {
            if let Some(lingering) = &mut self.lingering
                && lingering.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut scrap);
            match ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                // The client has seen the end, or is gone.
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}
