//! The folder of records.
//!
//! A record's name is a keyed digest of its server's configuration under a key that this
//! folder alone holds: neither the name nor the record tells what stands in an `env`, not
//! even to somebody who can guess it. Files are readable by their owner only.

use std::io::{BufRead as _, BufReader, ErrorKind as IoKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use toolshelf_core::{Error, ErrorKind};
use toolshelf_mcp::StdioConfig;

use super::record::{CachedHead, CachedServer, read_head};
use crate::chain::CHAIN_VARIABLE;

/// The file of the key.
const KEY_FILE: &str = "key";

/// The length of the key, in bytes.
const KEY_BYTES: usize = 32;

/// The largest record that is read, in bytes.
const MAX_RECORD_BYTES: u64 = 64 * 1024 * 1024;

/// The name of a record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheKey(String);

/// Records of servers in a folder of the user's.
///
/// Processes may share a folder: a record is replaced as a whole, and whoever reads sees
/// one that was written completely.
#[derive(Debug, Clone)]
pub struct DescriptorCache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
}

impl DescriptorCache {
    /// Opens a folder, and makes it where it does not exist.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`] when the folder or its key cannot be made or read.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        let fault = |what: &str, cause: std::io::Error| {
            Error::new(
                ErrorKind::Unavailable,
                format!("the cache {} {what}: {cause}", folder.display()),
            )
        };
        private_folder(&folder).map_err(|cause| fault("cannot be made", cause))?;
        let key = read_key(&folder).map_err(|cause| fault("has no usable key", cause))?;
        Ok(Self { folder, key })
    }

    /// The name of the record of a server. Every part of the configuration that can
    /// change what the server offers is in it.
    pub fn key(&self, config: &StdioConfig) -> CacheKey {
        let mut parts: Vec<String> = vec!["stdio".to_owned(), config.command.clone()];
        parts.push(config.args.len().to_string());
        parts.extend(config.args.iter().cloned());
        for (name, value) in &config.env {
            // Says which gateways stand above, not what the server is.
            if name != CHAIN_VARIABLE {
                parts.push(name.clone());
                parts.push(value.clone());
            }
        }
        // A relative command means another one in another folder.
        let folder = config.cwd.clone().or_else(|| std::env::current_dir().ok());
        parts.push(folder.unwrap_or_default().display().to_string());
        CacheKey(self.digest(&parts))
    }

    fn digest(&self, parts: &[String]) -> String {
        use std::fmt::Write as _;
        // A key of any length is taken, so this cannot fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else {
            return String::new();
        };
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        let mut name = String::with_capacity(2 * KEY_BYTES);
        for byte in mac.finalize().into_bytes() {
            let _ = write!(name, "{byte:02x}");
        }
        name
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        self.folder.join(format!("{}.json", key.0))
    }

    /// Reads a record; nothing where there is none, or where it cannot be read: a cache
    /// that is broken is as good as an empty one.
    pub fn load(&self, key: &CacheKey) -> Option<CachedServer> {
        self.read(key, |mut file| {
            let mut text = String::new();
            file.read_to_string(&mut text)
                .map_err(|cause| cause.to_string())?;
            CachedServer::read(&text)
        })
    }

    /// Reads what stands before the definitions of a record and nothing else of it.
    pub fn head(&self, key: &CacheKey) -> Option<CachedHead> {
        self.read(key, |file| {
            let mut line = String::new();
            BufReader::new(file)
                .read_line(&mut line)
                .map_err(|cause| cause.to_string())?;
            read_head(&line)
        })
    }

    fn read<T>(
        &self,
        key: &CacheKey,
        read: impl FnOnce(std::io::Take<std::fs::File>) -> Result<Option<T>, String>,
    ) -> Option<T> {
        let path = self.path(key);
        let read = match std::fs::File::open(&path) {
            Ok(file) => read(file.take(MAX_RECORD_BYTES)),
            Err(cause) if cause.kind() == IoKind::NotFound => Ok(None),
            Err(cause) => Err(cause.to_string()),
        };
        read.unwrap_or_else(|cause| {
            tracing::warn!("the cached list {} is ignored: {cause}", path.display());
            None
        })
    }

    /// Writes a record in place of the one before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`] when it cannot be written; the one before stays.
    pub fn store(&self, key: &CacheKey, record: &CachedServer) -> Result<(), Error> {
        let path = self.path(key);
        let text = record
            .write()
            .map_err(|cause| Error::new(ErrorKind::Internal, cause.to_string()))?;
        write_private(&path, text.as_bytes()).map_err(|cause| {
            Error::new(
                ErrorKind::Unavailable,
                format!(
                    "the cached list {} cannot be written: {cause}",
                    path.display()
                ),
            )
        })
    }

    /// Forgets a record.
    pub fn remove(&self, key: &CacheKey) {
        // One that is not there is forgotten already.
        let _ = std::fs::remove_file(self.path(key));
    }
}

/// The user's folder for lists of tools: `TOOLSHELF_CACHE_DIR` where that is set, else
/// `toolshelf` in the place that the operating system has for caches.
pub fn user_cache_dir() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(own) = set("TOOLSHELF_CACHE_DIR") {
        return Some(own);
    }
    let base = if let Some(dir) = set("XDG_CACHE_HOME") {
        dir
    } else if cfg!(windows) {
        set("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        set("HOME")?.join("Library/Caches")
    } else {
        set("HOME")?.join(".cache")
    };
    Some(base.join("toolshelf"))
}

/// The key of a folder. Of several processes that make it at the same time one wins, and
/// all read what it wrote.
fn read_key(folder: &Path) -> std::io::Result<[u8; KEY_BYTES]> {
    let path = folder.join(KEY_FILE);
    for _ in 0..2 {
        match std::fs::read(&path) {
            Ok(bytes) => {
                if let Ok(key) = <[u8; KEY_BYTES]>::try_from(bytes.as_slice()) {
                    return Ok(key);
                }
                // Cut short by a crash or written by hand: a new one only costs new lists.
                std::fs::remove_file(&path)?;
            }
            Err(cause) if cause.kind() == IoKind::NotFound => {}
            Err(cause) => return Err(cause),
        }
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        let made = temporary(folder, &key)?;
        // A link appears complete, and never replaces one that is there already.
        match std::fs::hard_link(&made, &path) {
            Ok(()) => {}
            Err(cause) if cause.kind() == IoKind::AlreadyExists => {}
            Err(_) => std::fs::rename(&made, &path)?,
        }
        let _ = std::fs::remove_file(&made);
    }
    let bytes = std::fs::read(&path)?;
    <[u8; KEY_BYTES]>::try_from(bytes.as_slice())
        .map_err(|_| std::io::Error::other("it does not have 32 bytes"))
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let made = temporary(folder, bytes)?;
    std::fs::rename(&made, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&made);
    })
}

/// Writes a file of a name of its own, readable by its owner only.
fn temporary(folder: &Path, bytes: &[u8]) -> std::io::Result<PathBuf> {
    let mut tag = [0; 8];
    getrandom::fill(&mut tag).map_err(std::io::Error::other)?;
    let path = folder.join(format!(".{:016x}.tmp", u64::from_le_bytes(tag)));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path)?;
    file.write_all(bytes).inspect_err(|_| {
        let _ = std::fs::remove_file(&path);
    })?;
    Ok(path)
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
