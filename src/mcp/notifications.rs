//! Notifies a client of changes, in the older and the newer protocol.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::changes::Subscriptions;
use super::project::Project;

/// Notifies a client of the older protocol until it disconnects.
pub(super) async fn legacy(
    project: Arc<Project>,
    subscriptions: Arc<Mutex<Subscriptions>>,
    mut changes: watch::Receiver<u64>,
    peer: Peer<RoleServer>,
) {
    let mut notified = *changes.borrow_and_update();
    let mut next = None;
    while wait(&mut changes, next).await {
        let now = *changes.borrow_and_update();
        if now != notified && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        notified = now;
        let uris;
        (uris, next) = subscriptions.lock().unwrap_or_else(PoisonError::into_inner).due(&project);
        for uri in uris {
            let update = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(update).await.is_err() {
                return;
            }
        }
    }
}

/// Notifies a stream of the newer protocol until it is closed.
pub(super) async fn modern(
    project: &Project,
    mut changes: watch::Receiver<u64>,
    context: &SubscriptionContext,
) {
    let mut subscriptions = Subscriptions::default();
    for uri in context.accepted().resource_subscriptions.iter().flatten() {
        subscriptions.add(project, uri);
    }
    let lists = context.accepted().resources_list_changed == Some(true);
    let sink = context.sink();
    let mut notified = *changes.borrow_and_update();
    let mut next = None;
    while wait(&mut changes, next).await {
        let now = *changes.borrow_and_update();
        if now != notified && lists && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
        notified = now;
        let uris;
        (uris, next) = subscriptions.due(project);
        for uri in uris {
            if sink.notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
    }
}

/// Waits for a build, or until a time if it is set. Returns false if the server is ending.
async fn wait(changes: &mut watch::Receiver<u64>, until: Option<Instant>) -> bool {
    let timeout = async {
        match until {
            Some(until) => sleep(until.saturating_duration_since(Instant::now())).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        changed = changes.changed() => changed.is_ok(),
        () = timeout => true,
    }
}
