//! The number of edits between two words.

/// A word of ASCII characters that others are compared with.
///
/// The table of the dynamic program is kept as the differences of neighbouring cells, a
/// column of them in a few machine words, so a character of the other word costs a handful of
/// instructions (Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit
/// distances", 2003: the variant in which a swap is one edit and no piece is edited twice).
pub(crate) struct Edits {
    /// By character: where in the word it stands.
    places: [u64; 128],
    length: usize,
}

impl Edits {
    /// `None` when the word is empty, is longer than 64 characters or is not of ASCII.
    pub(crate) fn of(word: &str) -> Option<Self> {
        if word.is_empty() || word.len() > 64 || !word.is_ascii() {
            return None;
        }
        let mut places = [0; 128];
        for (at, b) in word.bytes().enumerate() {
            places[usize::from(b)] |= 1 << at;
        }
        Some(Self {
            places,
            length: word.len(),
        })
    }

    /// The number of edits (change, insertion, removal, swap of neighbours) that make
    /// another word of it, if there are at most so many. A character that is not of ASCII
    /// counts as its bytes.
    pub(crate) fn within(&self, other: &[u8], most: usize) -> Option<usize> {
        if self.length.abs_diff(other.len()) > most {
            return None;
        }
        let last = 1u64 << (self.length - 1);
        // Where a cell is one more than the one above it, where one less, and where it is the
        // same as the one above and before it.
        let (mut more, mut less, mut same) = (u64::MAX, 0u64, 0u64);
        let mut places_before = 0;
        let mut edits = self.length;
        for b in other {
            let places = self.places.get(usize::from(*b)).copied().unwrap_or(0);
            let swapped = ((!same & places) << 1) & places_before;
            same = ((places & more).wrapping_add(more) ^ more) | places | less | swapped;
            let up = less | !(same | more);
            let down = same & more;
            if up & last != 0 {
                edits += 1;
            } else if down & last != 0 {
                edits -= 1;
            }
            let up = (up << 1) | 1;
            more = (down << 1) | !(same | up);
            less = up & same;
            places_before = places;
        }
        (edits <= most).then_some(edits)
    }
}
