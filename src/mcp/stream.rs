//! Tells a client of changes, in the words of its era.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::follow::Subscribed;
use super::library::Library;

/// Tells a client of the older protocol, for as long as it is there.
pub(super) async fn legacy(
    library: Arc<Library>,
    subscribed: Arc<Mutex<Subscribed>>,
    mut changes: watch::Receiver<u64>,
    peer: Peer<RoleServer>,
) {
    let mut told = *changes.borrow_and_update();
    let mut next = None;
    while wait(&mut changes, next).await {
        let now = *changes.borrow_and_update();
        if now != told && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        told = now;
        let due = subscribed.lock().unwrap_or_else(PoisonError::into_inner).due(&library);
        next = due.1;
        for uri in due.0 {
            let update = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(update).await.is_err() {
                return;
            }
        }
    }
}

/// Tells one stream of the newer protocol, until it cannot be told any more.
pub(super) async fn modern(
    library: &Library,
    mut changes: watch::Receiver<u64>,
    context: &SubscriptionContext,
) {
    let mut subscribed = Subscribed::default();
    for uri in context.accepted().resource_subscriptions.iter().flatten() {
        subscribed.add(library, uri);
    }
    let lists = context.accepted().resources_list_changed == Some(true);
    let sink = context.sink();
    let mut told = *changes.borrow_and_update();
    let mut next = None;
    while wait(&mut changes, next).await {
        let now = *changes.borrow_and_update();
        if now != told && lists && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
        told = now;
        let due = subscribed.due(library);
        next = due.1;
        for uri in due.0 {
            if sink.notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
    }
}

/// Waits for a build, or for a time that may not come.
async fn wait(changes: &mut watch::Receiver<u64>, next: Option<Instant>) -> bool {
    let later = async {
        match next {
            Some(next) => sleep(next.saturating_duration_since(Instant::now())).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        changed = changes.changed() => changed.is_ok(),
        () = later => true,
    }
}
