//! The register layout: which byte of an array holds which line.
//!
//! Invariant: line = 60 * register + lane. The 60 lines of a register share all Lehmer digits but the
//! last five (the **prefix**, q = n - 5 digits of radix n, n-1, .., 6); the **lane** numbers the 60
//! arrangements of the last five elements that make the line even. Lanes 60..63 are padding and stay
//! zero. Six consecutive registers, which differ in the last prefix digit only, form a **group**; all
//! registers with the same first c digits form a **block**, the unit of work and of emptiness.

/// Bytes of a register.
pub const REGISTER_BYTES: usize = 64;
/// Lines of a register.
pub const LANES: usize = 60;
/// A lane that is always zero.
pub const PAD_LANE: u8 = 63;
/// Elements whose arrangement the lane numbers.
pub const TAIL: usize = 5;
/// Registers of a group.
pub const GROUP: usize = 6;
/// Most prefix digits that vary inside a block: 8 * 7 * 6 = 336 registers (21 KiB), so that a block, its
/// sources and the tables of the kernels fit the nearest caches.
const INNER_DIGITS: usize = 3;

/// The bytes of one register.
pub type Register = [u8; REGISTER_BYTES];

/// The shape of the arrays for lines of n elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    n: usize,
    block_prefix: usize,
}

impl Layout {
    /// The shortest lines that have a layout: one prefix digit.
    pub const MIN_LEN: usize = TAIL + 1;

    /// Returns the layout for lines of n elements, or `None` when n is below [`Layout::MIN_LEN`] or
    /// ranks do not fit 64 bits.
    pub fn new(n: usize) -> Option<Layout> {
        (Layout::MIN_LEN..=super::lehmer::MAX_LEN)
            .contains(&n)
            .then_some(Layout {
                n,
                block_prefix: (n - TAIL.min(n)).saturating_sub(INNER_DIGITS),
            })
    }

    /// Returns the layout whose blocks share at least `digits` digits, so that chunks that share these
    /// consist of whole blocks; `None` when fewer than one digit would be left inside a block.
    pub fn with_shared_digits(self, digits: usize) -> Option<Layout> {
        let block_prefix = self.block_prefix.max(digits);
        (block_prefix < self.prefix()).then_some(Layout {
            block_prefix,
            ..self
        })
    }

    /// Returns the length of a line, n.
    pub fn len(self) -> usize {
        self.n
    }

    /// Returns false: no layout is for empty lines.
    pub fn is_empty(self) -> bool {
        false
    }

    /// Returns the number of prefix digits, q = n - 5.
    pub fn prefix(self) -> usize {
        self.n - TAIL
    }

    /// Returns the number of digits that all registers of a block share, c.
    pub fn block_prefix(self) -> usize {
        self.block_prefix
    }

    /// Returns the radix of digit x, n - x.
    pub fn radix(self, x: usize) -> usize {
        self.n - x
    }

    /// Returns the number of registers, n!/120.
    pub fn registers(self) -> u64 {
        super::lehmer::count(self.n) / 120
    }

    /// Returns the number of registers in a block, at most 336.
    pub fn block_registers(self) -> usize {
        (self.block_prefix()..self.prefix())
            .map(|x| self.radix(x))
            .product()
    }

    /// Returns the number of blocks.
    pub fn blocks(self) -> usize {
        (0..self.block_prefix()).map(|x| self.radix(x)).product()
    }

    /// Returns by how many blocks a digit x < c moves when it grows by one.
    pub fn block_stride(self, x: usize) -> usize {
        (x + 1..self.block_prefix())
            .map(|y| self.radix(y))
            .product()
    }

    /// Writes the first c digits of a block.
    pub fn block_digits(self, block: usize, digits: &mut [u8]) {
        let mut rest = block;
        for (x, digit) in digits[..self.block_prefix()].iter_mut().enumerate().rev() {
            *digit = (rest % self.radix(x)) as u8;
            rest /= self.radix(x);
        }
    }

    /// Writes the digits c..q of a register within its block to `digits[..q - c]`.
    pub fn inner_digits(self, register: usize, digits: &mut [u8]) {
        let mut rest = register;
        for x in (self.block_prefix()..self.prefix()).rev() {
            digits[x - self.block_prefix()] = (rest % self.radix(x)) as u8;
            rest /= self.radix(x);
        }
    }

    /// Returns the register within a block that has the digits c..q.
    pub fn inner_register(self, digits: &[u8]) -> usize {
        let radices = (self.block_prefix()..self.prefix()).map(|x| self.radix(x));
        radices
            .zip(digits)
            .fold(0, |register, (radix, &d)| register * radix + usize::from(d))
    }
}

/// Writes the last five digits of a lane to `digits[..5]`; `parity` is the parity of the prefix digit
/// sum, which the fourth digit completes to an even one.
pub fn lane_digits(lane: usize, parity: usize, digits: &mut [u8]) {
    let first = [lane / 12, lane / 3 % 4, lane % 3];
    for (digit, value) in digits.iter_mut().zip(first) {
        *digit = value as u8;
    }
    digits[3] = ((parity + first.iter().sum::<usize>()) % 2) as u8;
    digits[4] = 0;
}

/// Returns the lane with the given last digits, the inverse of [`lane_digits`].
pub fn lane(digits: &[u8]) -> u8 {
    digits[0] * 12 + digits[1] * 3 + digits[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perm::lehmer;

    #[test]
    fn registers_and_lanes_number_lines_by_rank() {
        let layout = Layout::new(7).unwrap();
        assert_eq!(
            (
                layout.registers(),
                layout.blocks(),
                layout.block_registers()
            ),
            (42, 1, 42)
        );
        for rank in 0..lehmer::even_count(7) {
            let (mut line, mut digits) = ([0; 7], [0; 7]);
            lehmer::unrank_even(rank, &mut line);
            lehmer::digits(&line, &mut digits);
            let (register, in_register) = (rank as usize / LANES, rank as usize % LANES);
            assert_eq!(layout.inner_register(&digits[..2]), register);
            assert_eq!(usize::from(lane(&digits[2..])), in_register);
            let mut tail = [0; 5];
            lane_digits(
                in_register,
                usize::from(digits[0] + digits[1]) % 2,
                &mut tail,
            );
            assert_eq!(tail, digits[2..]);
        }
    }
}
