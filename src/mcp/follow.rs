//! Notices builds, and tells whoever listens what they changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use super::address::{self, Meaning};
use super::library::{Library, Open};
use crate::serve::delivery;
use crate::serve::shelf::{Item, Shelf};

/// How long it must be quiet after a change before it is looked at.
const QUIET: Duration = Duration::from_millis(60);

/// How often it is looked anyway: a file system need not tell of changes.
const EVERY: Duration = Duration::from_secs(2);

/// When dates are looked up: after a client's first questions.
const LATER: Duration = Duration::from_millis(500);

/// A client is told of a change of one resource at most once in this time, as a session is.
const COOLDOWN: Duration = Duration::from_secs(delivery::COOLDOWN as u64);

/// Follows the manifest. The number grows with every build that changed something.
pub(super) async fn manifest(library: Arc<Library>, changes: watch::Sender<u64>) {
    let (sender, mut events) = mpsc::channel(1);
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.map_or(true, |event| !event.kind.is_access()) {
            // One that waits already is enough.
            sender.try_send(()).ok();
        }
    });
    let mut watcher = watcher.ok();
    let folder = library.root.path().join(".blue");
    let mut watching = false;
    let present = |library: &Library| (checksum(&library.open()), library.work());
    let mut known = present(&library);
    loop {
        if !watching && let Some(watcher) = &mut watcher {
            watching = watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok();
        }
        if timeout(EVERY, events.recv()).await.is_ok_and(|event| event.is_some()) {
            while timeout(QUIET, events.recv()).await.is_ok_and(|event| event.is_some()) {}
        }
        let now = present(&library);
        if now != known {
            known = now;
            changes.send_modify(|n| *n += 1);
            dates(library.clone(), changes.clone());
        }
    }
}

/// Looks up dates beside everything else, and tells if the list changed by them.
pub(super) fn dates(library: Arc<Library>, changes: watch::Sender<u64>) {
    std::thread::spawn(move || {
        std::thread::sleep(LATER);
        if library.look_up_dates() {
            changes.send_modify(|n| *n += 1);
        }
    });
}

fn checksum(open: &Open) -> Option<String> {
    open.shelf.as_ref().ok().map(|shelf| shelf.manifest.checksum.clone())
}

/// Resources that a client wants to hear of, one by one.
#[derive(Default)]
pub(super) struct Subscribed(BTreeMap<String, Heard>);

/// What a client knows of a resource.
struct Heard {
    digest: Option<String>,
    told: Option<Instant>,
}

/// The most that one client may ask to hear of.
pub(super) const MAX_SUBSCRIBED: usize = 1_000;

impl Subscribed {
    /// Adds one. Whether there was room for it.
    pub(super) fn add(&mut self, library: &Library, uri: &str) -> bool {
        let room = self.0.len() < MAX_SUBSCRIBED || self.0.contains_key(uri);
        if room {
            let digest = digest(library, &library.open(), uri);
            self.0.entry(uri.to_string()).or_insert(Heard { digest, told: None });
        }
        room
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, uri: &str) {
        self.0.remove(uri);
    }

    /// What changed and may be told now, and when to look again for what may not yet.
    pub(super) fn due(&mut self, library: &Library) -> (Vec<String>, Option<Instant>) {
        let open = library.open();
        let now = Instant::now();
        let (mut due, mut next) = (Vec::new(), None);
        for (uri, heard) in &mut self.0 {
            let digest = digest(library, &open, uri);
            if digest == heard.digest {
                continue;
            }
            let ready = heard.told.map_or(now, |told| told + COOLDOWN);
            if ready > now {
                next = Some(next.map_or(ready, |next: Instant| next.min(ready)));
                continue;
            }
            *heard = Heard { digest, told: Some(now) };
            due.push(uri.clone());
        }
        (due, next)
    }
}

/// The digest of what stands behind an address, as it was built.
fn digest(library: &Library, open: &Open, uri: &str) -> Option<String> {
    let shelf = open.shelf.as_ref().ok()?;
    Some(match address::bare_meaning(library, open, uri).ok()? {
        Meaning::Item(item) => of_item(shelf, item),
        Meaning::Work(bundle) | Meaning::Tasks(bundle) => bundle.content_hash,
        Meaning::Near(_) => shelf.manifest.inputs.clone(),
    })
}

fn of_item(shelf: &Shelf, item: Item) -> String {
    match item {
        Item::Artifact(row) => shelf.manifest.artifacts[row].hash.clone(),
        Item::Document(row) => shelf.catalogue.raw(row).to_string(),
        // What people write for blue is an input of every build.
        Item::Own(_) => shelf.manifest.inputs.clone(),
    }
}
