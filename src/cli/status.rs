//! `blue status`: where the project stands, and what would help.

use std::path::Path;

use clap::Args;

use super::delivery::Delivery;
use super::review::Review;
use super::{Exit, build, output};
use crate::model::layout::{CONFIG, GUIDE};
use crate::verify;

/// The flags of `blue status`.
#[derive(Args, Debug)]
pub(super) struct Status {}

impl Status {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let delivery = Delivery::open(directory)?;
        let mut text = String::new();
        if let Some(Ok((manifest, _))) = verify::manifest(&delivery.root)? {
            let documents = &manifest.documents;
            text += &format!("Documents  {}, {} live\n", documents.count, documents.live);
        }
        let work = match (delivery.current(), &delivery.work) {
            (Some(bundle), _) => output::visible(&bundle.source),
            (None, Some(name)) => format!("no live RFC is called {}", output::shown(name)),
            (None, None) => "none".to_string(),
        };
        text += &format!("Work       {work}\n");
        let built = match build::is_stale(&delivery.root) {
            true => "stale: run `blue knowledge build`",
            false => "current",
        };
        text += &format!("Built      {built}\n");
        let last = delivery.log.lines.last().map_or("nothing yet".to_string(), |line| {
            format!("{} to {} at {}", line.source, line.session_id, line.timestamp)
        });
        text += &format!("Delivered  {}\n", output::visible(&last));
        text += &Review::of(&delivery).line();
        for (path, what) in [
            (CONFIG, "a configuration; `blue init` writes one with comments"),
            (GUIDE, "how you work here, in your own words; it is told at session start"),
        ] {
            if !delivery.root.exists(path) {
                text += &format!("hint: write {path}: {what}\n");
            }
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }
}
