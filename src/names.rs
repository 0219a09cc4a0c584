//! Enums whose values have names on the command line and in reports.

/// Gives an enum all that follows from its names: the list of them, old ones behind a bar, with what there is to say
/// of each value, and the display form.
macro_rules! names {
    ($type:ident: $($name:literal $(| $old:literal)* = $value:ident, $about:literal;)+) => {
        impl $type {
            /// All values.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];
            /// The names of each value, the present one first, and what to say of it.
            pub const NAMES: &'static [(&'static [&'static str], $type, &'static str)] =
                &[$((&[$name $(, $old)*], $type::$value, $about)),+];

            /// Returns the name used on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use names;
