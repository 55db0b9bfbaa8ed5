//! Where bigrams of words lie in a sorted list, found without searching for those that are not in it.

/// Pairs of a list, by their last bits.
pub(super) struct Places {
    /// A bit for every pair, by its last bits: nearly all bigrams of texts are in no list.
    some: Vec<u64>,
    /// Place plus one, by the pair's last bits; 0 where there is none.
    slots: Vec<u32>,
}

impl Places {
    /// Of a list that is sorted by pair.
    pub(super) fn new<T>(list: &[(u32, T)]) -> Places {
        let mut slots = vec![0u32; (list.len() * 2).next_power_of_two().max(16)];
        let last = slots.len() - 1;
        let mut some = vec![0u64; slots.len() / 8];
        let mut start = 0;
        for run in list.chunk_by(|a, b| a.0 == b.0) {
            let (word, bit) = bit(&some, run[0].0);
            some[word] |= bit;
            let mut at = run[0].0 as usize & last;
            while slots[at] != 0 {
                at = (at + 1) & last;
            }
            slots[at] = start as u32 + 1;
            start += run.len();
        }
        Places { some, slots }
    }

    /// Where a pair begins in the list that these are the places of.
    #[inline]
    pub(super) fn of<T>(&self, list: &[(u32, T)], pair: u32) -> Option<u32> {
        let (word, bit) = bit(&self.some, pair);
        if self.some[word] & bit == 0 {
            return None;
        }
        let last = self.slots.len() - 1;
        let mut at = pair as usize & last;
        while let Some(start) = self.slots[at].checked_sub(1) {
            if list[start as usize].0 == pair {
                return Some(start);
            }
            at = (at + 1) & last;
        }
        None
    }
}

#[inline]
fn bit(some: &[u64], pair: u32) -> (usize, u64) {
    ((pair >> 6) as usize & (some.len() - 1), 1 << (pair & 63))
}
