//! Rows by the fastest kernel there is.

#![allow(unsafe_code)]

use crate::kernel::Kernel;
use crate::perm::layout::Register;
use crate::store::codec::rans_scalar;
use crate::store::codec::rans_table::{RansStreams, Read, RowSource, RowTarget};

#[cfg(target_arch = "x86_64")]
use crate::store::codec::{rans_avx2, rans_avx512};

/// Runs the function of the kernel.
macro_rules! choose {
    ($kernel:expr, $function:ident($($argument:expr),*)) => {
        match $kernel {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: encoder and decoder keep only a kernel of this processor.
            Kernel::Avx512 => unsafe { rans_avx512::$function($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unused_unsafe)]
            // SAFETY: as above.
            Kernel::Avx2 => unsafe { rans_avx2::$function($($argument),*) },
            _ => rans_scalar::$function($($argument),*),
        }
    };
}

/// Encodes all rows, from the last to the first.
pub(crate) fn encode(kernel: Kernel, source: &impl RowSource, mut to: RansStreams) {
    choose!(kernel, encode(source, &mut to));
}

/// Decodes all rows.
pub(crate) fn decode(kernel: Kernel, target: &mut impl RowTarget, mut from: Read) {
    choose!(kernel, decode(target, &mut from));
}

/// Writes how many bytes of each register are not 0.
pub(crate) fn count_held(kernel: Kernel, registers: &[Register], held: &mut [u8]) {
    choose!(kernel, count_held(registers, held));
}

/// Writes the bytes of a register that are not 0 to the front of `to`, and anything behind them.
pub(crate) fn gather_held(kernel: Kernel, register: &Register, to: &mut Register) {
    choose!(kernel, gather_held(register, to));
}

/// Writes the numbers of the bytes that are 0, or of the others.
pub(crate) fn list(kernel: Kernel, bytes: &[u8], zeros: bool, to: &mut Vec<u32>) {
    choose!(kernel, list(bytes, zeros, to));
}
