//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; a panic elsewhere is no reason for a second one here, since every critical
/// section of this crate leaves its data whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
