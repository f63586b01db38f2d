//! Connections, in a form that lets a request handler take the socket out of the HTTP library's
//! hands and do to it what the library never would.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// What a handler knows of the connection its request came by.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// None with TLS: a broken answer would be no more than a broken cipher there.
    pub socket: Option<Arc<Socket>>,
}

impl Connected<IncomingStream<'_, Ports>> for Line {
    fn connect_info(stream: IncomingStream<'_, Ports>) -> Self {
        stream.remote_addr().clone()
    }
}

/// A socket that the HTTP library and a handler share. The library writes nothing while a
/// handler works, and nothing more once the handler has taken the socket.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    taken: AtomicBool,
}

impl Socket {
    /// From now on the library's writes fail, so that it gives the connection up.
    pub fn take(&self) {
        self.taken.store(true, Ordering::SeqCst);
    }

    pub async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Closing then resets the connection.
    pub fn reset_on_close(&self) -> io::Result<()> {
        self.stream.set_zero_linger()
    }
}

/// The library's half of a [`Socket`].
struct Shared(Arc<Socket>);

impl AsyncRead for Shared {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.stream.poll_read_ready(cx))?;
            match self.0.stream.try_read(buf.initialize_unfilled()) {
                Ok(read) => {
                    buf.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Shared {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.0.taken.load(Ordering::SeqCst) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        loop {
            ready!(self.0.stream.poll_write_ready(cx))?;
            match self.0.stream.try_write_vectored(slices) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    // The connection is dropped after this, which closes it.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A connection as the HTTP library sees it.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

type Accepted = (Box<dyn Stream>, Option<Arc<Socket>>);

/// Accepts at one port, or at two: one with TLS and one without.
pub struct Ports {
    accepted: mpsc::Receiver<Accepted>,
    connections: usize,
}

impl Ports {
    pub fn open(plain: TcpListener, secure: Option<(TlsAcceptor, TcpListener)>) -> Self {
        let (sender, accepted) = mpsc::channel(64);
        tokio::spawn(accept_plain(plain, sender.clone()));
        if let Some((acceptor, listener)) = secure {
            tokio::spawn(accept_secure(listener, acceptor, sender));
        }
        Self { accepted, connections: 0 }
    }
}

async fn accept_plain(listener: TcpListener, accepted: mpsc::Sender<Accepted>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let socket = Arc::new(Socket { stream, taken: AtomicBool::new(false) });
        let _ = accepted.send((Box::new(Shared(socket.clone())), Some(socket))).await;
    }
}

async fn accept_secure(listener: TcpListener, acceptor: TlsAcceptor, accepted: mpsc::Sender<Accepted>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, accepted) = (acceptor.clone(), accepted.clone());
        // A client that does not trust us ends its handshake here.
        tokio::spawn(async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                let _ = accepted.send((Box::new(stream), None)).await;
            }
        });
    }
}

impl Listener for Ports {
    type Io = Box<dyn Stream>;
    // Nobody asks who called; this is the way by which handlers learn of their connection.
    type Addr = Line;

    async fn accept(&mut self) -> (Self::Io, Line) {
        let Some((stream, socket)) = self.accepted.recv().await else {
            // The ports are closed: nothing will come any more.
            return std::future::pending().await;
        };
        self.connections += 1;
        (stream, Line { number: self.connections, socket })
    }

    fn local_addr(&self) -> io::Result<Line> {
        Ok(Line::default())
    }
}
