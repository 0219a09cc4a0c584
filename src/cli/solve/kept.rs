//! Databases and tables that are built once and kept.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use tilewave::{
    Pdb,
    pruning::PruningTable,
    report::{bytes, duration},
};

use crate::cli::{Result, SearchProgress, part};

/// What is kept in a file.
pub trait Keepable {
    /// What it is called where there are several.
    const NOUN: &'static str;
    fn bytes(&self) -> u64;
    fn keep(&self, path: &Path, progress: &SearchProgress) -> Result<()>;
}

impl Keepable for Pdb {
    const NOUN: &'static str = "pattern databases";

    fn bytes(&self) -> u64 {
        self.file_bytes()
    }

    fn keep(&self, path: &Path, progress: &SearchProgress) -> Result<()> {
        Ok(self.save_with(path, true, progress)?)
    }
}

impl Keepable for PruningTable {
    const NOUN: &'static str = "pruning tables";

    fn bytes(&self) -> u64 {
        self.file_bytes()
    }

    fn keep(&self, path: &Path, progress: &SearchProgress) -> Result<()> {
        Ok(self.save(path, true, progress)?)
    }
}

/// Returns so many databases or tables, each given by its place: what is kept in a directory under its name, if it can be used,
/// else built, and kept.
pub fn get_all<T: Keepable>(
    dir: Option<&Path>,
    count: usize,
    name: impl Fn(usize) -> String,
    usable: impl Fn(usize, &Path) -> Option<T>,
    build: impl Fn(usize, &SearchProgress) -> Result<T>,
) -> Result<Vec<T>> {
    let (mut all, mut built, mut seconds) = (Vec::new(), 0, 0.0);
    for i in 0..count {
        let path: Option<PathBuf> = dir.map(|dir| dir.join(name(i)));
        // A file that cannot be used, for whatever reason, is built again and replaced.
        if let Some(found) = path.as_ref().and_then(|path| usable(i, path)) {
            all.push(found);
            continue;
        }
        let begun = Instant::now();
        let progress = SearchProgress::of_part(part(i, count));
        let made = build(i, &progress)?;
        if let Some(path) = &path
            && let Err(error) = made.keep(path, &progress)
        {
            let why = error.said.unwrap_or_default();
            tracing::warn!("{} will not be kept: {why}", path.display());
        }
        built += made.bytes();
        seconds += begun.elapsed().as_secs_f64();
        all.push(made);
    }
    if built > 0 {
        let place = match dir {
            Some(dir) => format!("kept in {}", dir.display()),
            None => "not kept".into(),
        };
        tracing::info!("built {}: {} in {}, {place}", T::NOUN, bytes(built), duration(seconds));
    }
    Ok(all)
}
