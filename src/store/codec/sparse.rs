//! Frames with few states: a list of the bytes that hold any.

use super::bytes::{take, take_u32};
use crate::perm::layout::{LANES, Register};

/// Appends the bytes of `registers` that are not 0, which are in those of the numbers in `live`: their number, then for each how many lines lie between it and
/// the one before, seven bits at a time, the lowest first, each with a bit that says whether more follow, and the byte.
pub(super) fn encode(registers: &[Register], live: &[u32], count: usize, out: &mut Vec<u8>) {
    out.extend((count as u32).to_le_bytes());
    let mut next = 0;
    for &r in live {
        let register = &registers[r as usize];
        for (lane, &byte) in register[..LANES].iter().enumerate() {
            if byte == 0 {
                continue;
            }
            let line = r as usize * LANES + lane;
            let mut between = line - next;
            while between >= 128 {
                out.push(between as u8 | 128);
                between >>= 7;
            }
            out.extend([between as u8, byte]);
            next = line + 1;
        }
    }
}

/// Writes the bytes of such a list to registers that hold nothing, and the numbers of those that hold any.
pub(super) fn decode(
    mut bytes: &[u8],
    registers: &mut [Register],
    live: &mut Vec<u32>,
) -> Option<()> {
    live.clear();
    let mut next = 0;
    for _ in 0..take_u32(&mut bytes)? {
        let mut between = 0;
        for shift in (0..28).step_by(7) {
            let part = usize::from(take(&mut bytes, 1)?[0]);
            between |= (part % 128) << shift;
            if part < 128 {
                break;
            }
        }
        let line: usize = next + between;
        let register = line / LANES;
        registers.get_mut(register)?[line % LANES] = take(&mut bytes, 1)?[0];
        if live.last() != Some(&(register as u32)) {
            live.push(register as u32);
        }
        next = line + 1;
    }
    bytes.is_empty().then_some(())
}
