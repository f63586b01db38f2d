//! Undoing the compression of a page, within limits.
//!
//! A few kilobytes can decompress to gigabytes, so the size is watched while it grows: the
//! limit counts for the page, and past the first megabyte also in proportion to what came. A
//! page whose compressed form ends too early or fails its check sum is refused whole.

use super::access::Limits;
use super::fault::FaultKind;
use super::guard::Refusal;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use std::io::{self, ErrorKind, Read};

/// What we can undo, as we tell servers.
pub(super) const ACCEPTED: &str = "gzip, deflate, br, zstd";
/// Up to this size a page may grow in any proportion.
const FREE: usize = 1 << 20;
const STEP: u64 = 64 << 10;
/// 8 MB, the largest window that RFC 9659 lets servers use.
const ZSTD_WINDOW: u32 = 23;

/// How much of a page we want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of it; more than the limit is a fault.
    Whole,
    /// So many bytes of its beginning; the rest is not looked at.
    Beginning(usize),
}

/// The page behind what came over the wire.
pub(super) fn decode(
    received: Vec<u8>,
    coding: &str,
    keep: Keep,
    limits: &Limits,
) -> Result<Vec<u8>, Refusal> {
    let bytes = received.as_slice();
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let page = Page { limits, keep, received: bytes.len() };
    match coding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(received),
        // Some servers name a coding and send the page as it is.
        "gzip" | "x-gzip" if !begins(&[0x1f, 0x8b]) => Ok(received),
        "zstd" if !begins(&[0x28, 0xb5, 0x2f, 0xfd]) => Ok(received),
        "br" | "deflate" if is_markup(bytes) => Ok(received),
        _ if bytes.is_empty() => Ok(received),
        "gzip" | "x-gzip" => page.read(Members { rest: bytes, member: None }),
        // The name means zlib (RFC 9110, 8.4.1.2); what some servers send is bare deflate.
        "deflate" if is_zlib(bytes) => page.read(ZlibDecoder::new(bytes)),
        "deflate" => page.read(DeflateDecoder::new(bytes)),
        "br" => page.read(brotli_decompressor::Decompressor::new(bytes, 4096)),
        "zstd" => {
            let mut decoder = zstd::Decoder::with_buffer(bytes).map_err(|error| page.broken(&error))?;
            decoder.window_log_max(ZSTD_WINDOW).map_err(|error| page.broken(&error))?;
            page.read(decoder)
        }
        other => Err((FaultKind::BadEncoding, format!("its coding is `{}`", other.escape_debug()))),
    }
}

struct Page<'a> {
    limits: &'a Limits,
    keep: Keep,
    received: usize,
}

impl Page<'_> {
    fn read(&self, mut decoder: impl Read) -> Result<Vec<u8>, Refusal> {
        let most = match self.keep {
            Keep::Whole => self.limits.body,
            Keep::Beginning(most) => most,
        };
        let mut page = Vec::with_capacity(self.received.saturating_mul(4).min(most));
        loop {
            let before = page.len();
            let read = decoder.by_ref().take(STEP).read_to_end(&mut page);
            if let Keep::Beginning(_) = self.keep {
                // Only the beginning came, so the end may well be missing.
                if page.len() >= most || page.len() == before || read.is_err() {
                    page.truncate(most);
                    return Ok(page);
                }
                continue;
            }
            read.map_err(|error| self.broken(&error))?;
            if page.len() == before {
                return Ok(page);
            }
            self.check(page.len())?;
        }
    }

    fn check(&self, length: usize) -> Result<(), Refusal> {
        let Limits { body, ratio, .. } = *self.limits;
        if length > body {
            return Err((FaultKind::TooLarge, format!("decompressed it is larger than {body} bytes")));
        }
        if length > FREE && length > self.received.saturating_mul(ratio) {
            let detail = format!("{} bytes decompress to more than {ratio} times as much", self.received);
            return Err((FaultKind::TooLarge, detail));
        }
        Ok(())
    }

    fn broken(&self, error: &io::Error) -> Refusal {
        match error.kind() {
            ErrorKind::UnexpectedEof => {
                (FaultKind::Truncated, "its compressed form ends too early".to_owned())
            }
            _ => (FaultKind::BadEncoding, error.to_string()),
        }
    }
}

/// All members of a gzip stream, one after the other. Padding with zeros may follow; anything
/// else is a member that was damaged.
struct Members<'a> {
    rest: &'a [u8],
    member: Option<GzDecoder<&'a [u8]>>,
}

impl Read for Members<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.member else {
                if self.rest.iter().all(|byte| *byte == 0) {
                    return Ok(0);
                }
                self.member = Some(GzDecoder::new(self.rest));
                continue;
            };
            match member.read(buffer)? {
                0 if !buffer.is_empty() => {
                    self.rest = member.get_ref();
                    self.member = None;
                }
                read => return Ok(read),
            }
        }
    }
}

/// The two bytes of a zlib header: method 8, and a check that the pair divides by 31.
fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [first, second, ..]
        if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

/// Whether the bytes are markup as it is; no stream of brotli or deflate begins so.
fn is_markup(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins =
        |word: &str| bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    ["<?xml", "<!doctype", "<html", "<oai-pmh", "<rdf"].into_iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    const XML: &[u8] = b"<?xml version=\"1.0\"?><OAI-PMH>caf\xc3\xa9</OAI-PMH>";
    /// `brotli -q 5` of [`XML`] is not at hand without the compressor; this is RFC 7932's
    /// uncompressed form: window 16, one stored block, an empty last block.
    fn brotli(bytes: &[u8]) -> Vec<u8> {
        let length = bytes.len() - 1;
        // WBITS 0; ISLAST 0, MNIBBLES 4, MLEN-1 in 16 bits, ISUNCOMPRESSED 1.
        let head: u32 = (length as u32) << 4 | 1 << 20;
        let mut stream = head.to_le_bytes()[..3].to_vec();
        stream.extend_from_slice(bytes);
        stream.push(3);
        stream
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    fn whole(received: &[u8], coding: &str) -> Result<Vec<u8>, FaultKind> {
        decode(received.to_vec(), coding, Keep::Whole, &Limits::default()).map_err(|(kind, _)| kind)
    }

    #[test]
    fn every_coding_we_name_is_undone() {
        for (coding, received) in [
            ("gzip", gzip(XML)),
            ("X-GZip", gzip(XML)),
            ("deflate", zlib(XML)),
            ("deflate", deflate(XML)),
            ("br", brotli(XML)),
            ("zstd", zstd(XML)),
            ("identity", XML.to_vec()),
            ("", XML.to_vec()),
        ] {
            assert_eq!(whole(&received, coding).as_deref(), Ok(XML), "{coding}");
        }
    }

    #[test]
    fn a_plain_page_under_a_wrong_name_is_taken_as_it_is() {
        for coding in ["gzip", "deflate", "br", "zstd"] {
            assert_eq!(whole(XML, coding).as_deref(), Ok(XML), "{coding}");
            assert_eq!(whole(b"", coding).as_deref(), Ok(&b""[..]), "{coding}");
        }
    }

    #[test]
    fn a_page_cut_short_is_refused() {
        let text: Vec<u8> =
            (0..20_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_string().into_bytes()).collect();
        for (coding, received) in
            [("gzip", gzip(&text)), ("deflate", zlib(&text)), ("br", brotli(XML)), ("zstd", zstd(&text))]
        {
            for cut in [received.len() / 2, received.len() - 1] {
                let outcome = whole(&received[..cut], coding);
                // The decoder of brotli does not tell an end from nonsense.
                let kind = if coding == "br" { FaultKind::BadEncoding } else { FaultKind::Truncated };
                assert_eq!(outcome, Err(kind), "{coding} cut at {cut} of {}", received.len());
            }
        }
        assert!(whole(&deflate(&text)[..100], "deflate").is_err());
    }

    #[test]
    fn a_damaged_page_is_refused() {
        let mut crc = gzip(XML);
        let at = crc.len() - 8;
        crc[at] ^= 1;
        assert_eq!(whole(&crc, "gzip"), Err(FaultKind::BadEncoding));
        let mut sum = zlib(XML);
        let at = sum.len() - 1;
        sum[at] ^= 1;
        assert_eq!(whole(&sum, "deflate"), Err(FaultKind::BadEncoding));
        let mut member = gzip(XML);
        member.extend_from_slice(b"garbage behind the end");
        assert_eq!(whole(&member, "gzip"), Err(FaultKind::BadEncoding));
        assert_eq!(whole(b"\x28\xb5\x2f\xfdnonsense", "zstd"), Err(FaultKind::BadEncoding));
        assert_eq!(whole(b"\xff\xff\xff\xff\xff\xff", "br"), Err(FaultKind::BadEncoding));
        assert_eq!(whole(XML, "gzip, gzip"), Err(FaultKind::BadEncoding));
        assert_eq!(whole(XML, "compress"), Err(FaultKind::BadEncoding));
    }

    #[test]
    fn all_members_of_a_gzip_stream_are_read() {
        let mut two = gzip(b"one ");
        two.extend(gzip(b"two"));
        two.extend([0; 20]);
        assert_eq!(whole(&two, "gzip").as_deref(), Ok(&b"one two"[..]));
    }

    #[test]
    fn bombs_stop_at_the_ratio_and_at_the_limit() {
        let zeros = vec![b'x'; 4 << 20];
        for (coding, received) in [("gzip", gzip(&zeros)), ("deflate", zlib(&zeros)), ("zstd", zstd(&zeros))]
        {
            assert_eq!(whole(&received, coding), Err(FaultKind::TooLarge), "{coding}");
        }
        let limits = Limits { body: 1000, ..Limits::default() };
        let page = decode(gzip(&[b'x'; 1001]), "gzip", Keep::Whole, &limits);
        assert_eq!(page.unwrap_err().0, FaultKind::TooLarge);
        assert!(decode(gzip(&[b'x'; 1000]), "gzip", Keep::Whole, &limits).is_ok());
    }

    #[test]
    fn a_small_page_may_be_as_repetitive_as_it_likes() {
        let page = vec![b'x'; FREE];
        assert_eq!(whole(&gzip(&page), "gzip").map(|page| page.len()), Ok(FREE));
    }

    #[test]
    fn the_beginning_is_enough_where_no_more_is_wanted() {
        let received = gzip(&[b'x'; 5000]);
        let limits = Limits::default();
        assert_eq!(decode(received.clone(), "gzip", Keep::Beginning(10), &limits), Ok(vec![b'x'; 10]));
        let part =
            decode(received[..received.len() - 9].to_vec(), "gzip", Keep::Beginning(9000), &limits).unwrap();
        assert!(part.len() > 4000, "{}", part.len());
    }

    #[test]
    fn a_zstd_window_beyond_the_standard_is_refused() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(27).unwrap();
        encoder.include_contentsize(false).unwrap();
        encoder.write_all(&vec![b'x'; 1 << 20]).unwrap();
        let received = encoder.finish().unwrap();
        assert_eq!(whole(&received, "zstd"), Err(FaultKind::BadEncoding));
    }
}
