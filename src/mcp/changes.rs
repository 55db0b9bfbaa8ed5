//! Watches for builds, and finds the subscribed resources that changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use super::project::{Open, Project};
use crate::model::layout::BLUE;
use crate::serve::address::{self, Resolved};
use crate::serve::{Listed, log};

/// Time without a change before the manifest is read.
const QUIET: Duration = Duration::from_millis(60);

/// Time between two checks without an event, because some file systems report none.
const INTERVAL: Duration = Duration::from_secs(2);

/// Delay before git is first asked for dates, so that the first requests of a client do not wait for
/// it.
const DELAY: Duration = Duration::from_millis(500);

/// Maximum time for which the notification of a build waits for dates. If git takes longer, the next
/// list has them, without another notification.
const DATES_TIMEOUT: Duration = Duration::from_secs(1);

/// Minimum time between two notifications of a resource.
const COOLDOWN: Duration = Duration::from_secs(log::COOLDOWN as u64);

/// Watches the manifest, and increments `changes` once after every build that changed something. It
/// also does so when the dates of all documents are first known.
pub(super) async fn watch_manifest(project: Arc<Project>, changes: watch::Sender<u64>) {
    let (sender, mut events) = mpsc::channel(1);
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.map_or(true, |event| !event.kind.is_access()) {
            // One waiting event is enough.
            sender.try_send(()).ok();
        }
    });
    let mut watcher = watcher.ok();
    let folder = project.root.path().join(BLUE);
    let mut watching = false;
    let fingerprint = |project: &Project| {
        let open = project.open();
        (open.built.ok().map(|built| built.manifest.checksum.clone()), open.work)
    };
    let mut previous = fingerprint(&project);
    let mut first_dates = Some(tokio::spawn(first_dates(project.clone())));
    loop {
        if !watching && let Some(watcher) = &mut watcher {
            watching = watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok();
        }
        tokio::select! {
            event = timeout(INTERVAL, events.recv()) => {
                if event.is_ok_and(|event| event.is_some()) {
                    while timeout(QUIET, events.recv()).await.is_ok_and(|event| event.is_some()) {}
                }
            }
            changed = async { first_dates.as_mut().expect("is pending").await },
                if first_dates.is_some() =>
            {
                first_dates = None;
                if changed.unwrap_or(false) {
                    changes.send_modify(|n| *n += 1);
                }
                continue;
            }
        }
        let current = fingerprint(&project);
        if current != previous {
            previous = current;
            // The dates of this build replace the first ones, so that they are not reported twice.
            first_dates.take().inspect(|task| task.abort());
            // After a timeout, the thread goes on and stores the dates.
            timeout(DATES_TIMEOUT, update_dates(project.clone())).await.ok();
            changes.send_modify(|n| *n += 1);
        }
    }
}

/// Asks git for commit times after a delay. Returns true if any changed.
async fn first_dates(project: Arc<Project>) -> bool {
    sleep(DELAY).await;
    update_dates(project).await
}

/// Asks git for commit times on a separate thread. Returns true if any changed.
async fn update_dates(project: Arc<Project>) -> bool {
    spawn_blocking(move || project.update_dates()).await.unwrap_or(false)
}

/// The resources that a client subscribed to.
#[derive(Default)]
pub(super) struct Subscriptions(BTreeMap<String, Subscription>);

/// The version of a resource that a client was last notified of.
struct Subscription {
    digest: Option<String>,
    notified: Option<Instant>,
}

/// Maximum number of resources that a client may subscribe to.
pub(super) const MAX_SUBSCRIPTIONS: usize = 1_000;

impl Subscriptions {
    /// Adds a resource. Returns false if there are too many already.
    pub(super) fn add(&mut self, project: &Project, uri: &str) -> bool {
        let fits = self.0.len() < MAX_SUBSCRIPTIONS || self.0.contains_key(uri);
        if fits {
            let digest = digest(project, &project.open(), uri);
            self.0.entry(uri.to_string()).or_insert(Subscription { digest, notified: None });
        }
        fits
    }

    /// Removes a resource.
    pub(super) fn remove(&mut self, uri: &str) {
        self.0.remove(uri);
    }

    /// Returns the resources to notify now, and the time when the next notification is due.
    pub(super) fn due(&mut self, project: &Project) -> (Vec<String>, Option<Instant>) {
        let open = project.open();
        let now = Instant::now();
        let (mut due, mut next) = (Vec::new(), None);
        for (uri, subscription) in &mut self.0 {
            let digest = digest(project, &open, uri);
            if digest == subscription.digest {
                continue;
            }
            let ready = subscription.notified.map_or(now, |notified| notified + COOLDOWN);
            if ready > now {
                next = Some(next.map_or(ready, |next: Instant| next.min(ready)));
                continue;
            }
            *subscription = Subscription { digest, notified: Some(now) };
            due.push(uri.clone());
        }
        (due, next)
    }
}

/// Returns a digest of a resource in the last build.
fn digest(project: &Project, open: &Open, uri: &str) -> Option<String> {
    let built = open.built.as_ref().ok()?;
    let resolved = address::resolve(&project.root, built, open.work.as_deref(), uri).ok()?;
    Some(match resolved {
        Resolved::Item(Listed::Artifact(row)) => built.manifest.artifacts[row].hash.clone(),
        Resolved::Item(Listed::Document(row)) => built.catalogue.raw(row).to_string(),
        Resolved::Tasks(bundle) => bundle.content_hash,
        // These depend on hand-written files or several documents, which are inputs of the build.
        Resolved::Item(Listed::Handwritten(_))
        | Resolved::File(_)
        | Resolved::GuideCreation
        | Resolved::Neighbours(_) => built.manifest.inputs.clone(),
    })
}
