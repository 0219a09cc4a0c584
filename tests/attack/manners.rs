//! How a program behaves that was run, whatever it found.

use super::program::Done;

impl Done {
    /// What is wrong with the way it ended, whatever it found: it may end with 0, 1, 2 or 130, and what went wrong
    /// is one line that begins with `error:`.
    pub fn bad_manners(&self) -> Option<String> {
        self.bad_manners_of(1)
    }

    /// The same of a command that takes several paths, and says one line for each that it cannot read.
    pub fn bad_manners_of(&self, paths: usize) -> Option<String> {
        if self.hung {
            return Some("hangs".into());
        }
        if let Some(signal) = self.signal {
            return Some(format!("ended by signal {signal}: {}", self.first_words()));
        }
        if self.err.contains("panicked at") {
            return Some(format!("panics: {}", self.first_words()));
        }
        let code = self.code.unwrap_or(-1);
        if ![0, 1, 2, 130].contains(&code) {
            return Some(format!("exit code {code}: {}", self.first_words()));
        }
        let lines = self.err.lines().filter(|l| l.starts_with("error:")).count();
        match (code, lines) {
            (0, _) | (1 | 2 | 130, 1) => None,
            (1, several) if (2..=paths).contains(&several) => None,
            // What verify finds, and how an interrupt is told, may be the report itself.
            (1 | 130, 0) if !(self.err.is_empty() && self.out.is_empty()) => None,
            _ => Some(format!("{lines} error lines, code {code}: {}", self.first_words())),
        }
    }

    /// What it found, without a table's head: the lines that begin with a number.
    pub fn rows(&self) -> Vec<&str> {
        let number = |l: &&str| l.starts_with(|c: char| c.is_ascii_digit());
        self.out.lines().filter(number).collect()
    }
}
