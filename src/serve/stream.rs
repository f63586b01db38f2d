//! A connection's bytes: nobody reads an answer for ever, and nobody loses it by writing on.
//!
//! Reading is bounded elsewhere (heads by hyper, bodies by [`BodyLimit`]). Two things are left.
//! A client that takes no byte of its answer for the stall time is cut off. And a connection that
//! is closed while its client still sends must not be reset, or the client never sees the answer
//! that says why: the end is announced, and what comes is thrown away for a moment.
//!
//! What the kernel takes from us says what the client took only if the kernel keeps little for
//! itself. Left alone it buffers megabytes and wants more when a third of them is gone, which a
//! client that reads steadily and slowly needs minutes for. So it is told to hold [`UNSENT`] bytes
//! that it has not sent; what is on the wire does not count, so fast clients are as fast as ever.
//!
//! [`BodyLimit`]: super::limits::BodyLimit

use super::connections::Place;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// How many bytes the kernel may hold that it has not sent.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNSENT: u32 = 16 * 1024;
/// How long what still comes is thrown away.
const LINGER: Duration = Duration::from_secs(2);
/// How much of it at a time.
const SCRAP: usize = 16 * 1024;

pub struct Stream {
    inner: TcpStream,
    place: Arc<Place>,
    stall: Duration,
    /// Runs while the client takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Runs once the end was announced.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    /// A connection whose client may take nothing for as long as `stall`.
    pub fn new(inner: TcpStream, place: Arc<Place>, stall: Duration) -> io::Result<Self> {
        // Answers are written whole; waiting for more would only delay them.
        inner.set_nodelay(true)?;
        #[cfg(any(target_os = "android", target_os = "linux"))]
        socket2::SockRef::from(&inner).set_tcp_notsent_lowat(UNSENT)?;
        Ok(Self { inner, place, stall, stalled: None, lingering: None })
    }

    /// Passes on what writing gave; an error once it has given nothing for too long.
    fn watch(&mut self, written: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(done) = written {
            self.stalled = None;
            self.place.take(*done.as_ref().unwrap_or(&0));
            return Poll::Ready(done);
        }
        let stall = self.stall;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(stall)));
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

    /// A socket keeps nothing back that flushing would send: what it does not take, it does not take
    /// in writing.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.inner).poll_shutdown(cx))?;
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
