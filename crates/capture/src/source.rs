//! Bytes of a file, decompressed if necessary, and the progress of reading.

use crate::error::CaptureError;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BUFFER: usize = 1 << 18;

/// Progress of reading a file, for display.
#[derive(Clone, Default)]
pub struct Progress {
    bytes: Arc<AtomicU64>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Progress {
    /// Bytes read of the file itself, before decompression.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Why reading ended before the end, if it did.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Decompressed bytes of a capture.
pub type Bytes = Box<dyn Read + Send>;

/// Opens a file; `progress` counts the bytes read.
pub fn open(path: &Path, progress: &Progress) -> Result<Bytes, CaptureError> {
    let file = File::open(path).map_err(|error| CaptureError::Unreadable(error.to_string()))?;
    unpacked(file, progress)
}

/// Decompressed bytes of `packed`, which is gzip, zstd, or neither.
pub fn unpacked(
    packed: impl Read + Send + 'static,
    progress: &Progress,
) -> Result<Bytes, CaptureError> {
    let mut counted = Counted { inner: packed, bytes: progress.bytes.clone() };
    let mut magic = Vec::new();
    let wanted = (&mut counted).take(4).read_to_end(&mut magic);
    wanted.map_err(|error| CaptureError::Unreadable(error.to_string()))?;
    let whole = Cursor::new(magic.clone()).chain(counted);
    let bytes: Bytes = if magic.starts_with(&GZIP) {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole)))
    } else if magic.starts_with(&ZSTD) {
        Box::new(Frames { decoder: None, packed: Some(BufReader::with_capacity(BUFFER, whole)) })
    } else {
        Box::new(whole)
    };
    Ok(Box::new(Watched { inner: bytes, failure: progress.failure.clone() }))
}

struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Fills the whole buffer, as the parsers expect at the start. An error ends the stream, and
/// its text is stored.
struct Watched {
    inner: Bytes,
    failure: Arc<Mutex<Option<String>>>,
}

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self.inner.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    *failure = Some(error.to_string());
                    break;
                }
            }
        }
        Ok(filled)
    }
}

/// Consecutive zstd frames, as from `cat a.zst b.zst` or parallel compressors.
struct Frames<R: Read> {
    decoder: Option<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>,
    packed: Option<R>,
}

impl<R: io::BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(decoder) = &mut self.decoder {
                let read = decoder.read(into)?;
                if read > 0 || into.is_empty() {
                    return Ok(read);
                }
                self.packed = self.decoder.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut packed) = self.packed.take() else { return Ok(0) };
            if packed.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.decoder = Some(StreamingDecoder::new(packed).map_err(io::Error::other)?);
        }
    }
}
