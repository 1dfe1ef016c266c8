//! What servers said of their tools, kept on disk, so that a start lists and searches
//! without starting any of them.

mod record;
mod store;

pub use record::{CachedHead, CachedServer};
pub use store::{CacheKey, DescriptorCache, user_cache_dir};
