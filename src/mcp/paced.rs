//! The wire, with a limit on how many requests are open at once.
//!
//! The SDK reads on while answers wait to be written, so a client that stops reading would make it
//! grow without bound. Here nothing more is read until enough of what was read is answered.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, GetMeta, JsonRpcMessage, ProtocolVersion,
    RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{Notify, watch};

/// Requests that may be open at once.
const MAX_OPEN: usize = 32;

/// A transport that reads no more than it has answered.
pub(super) struct Paced<T> {
    inner: T,
    open: Arc<Open>,
    /// Whether anything but a probe was asked.
    began: bool,
    end: watch::Sender<bool>,
}

/// The requests that have no answer yet.
#[derive(Default)]
struct Open {
    ids: Mutex<Vec<RequestId>>,
    freed: Notify,
}

impl Open {
    fn with<R>(&self, look: impl FnOnce(&mut Vec<RequestId>) -> R) -> R {
        look(&mut self.ids.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, id: &RequestId) {
        self.with(|ids| {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        });
    }

    fn remove(&self, id: &RequestId) {
        self.with(|ids| ids.retain(|open| open != id));
        self.freed.notify_one();
    }
}

impl<T> Paced<T> {
    /// Wraps a transport; `end` hears when the client is gone.
    pub(super) fn new(inner: T, end: watch::Sender<bool>) -> Paced<T> {
        Paced { inner, open: Arc::default(), began: false, end }
    }
}

/// A request of the newer protocol for a method that only the older one has is handed on as what it
/// is there: unknown. The SDK would take it for the older protocol.
fn modern(mut message: RxJsonRpcMessage<RoleServer>) -> RxJsonRpcMessage<RoleServer> {
    if let JsonRpcMessage::Request(request) = &mut message
        && let Some(version) = request.request.get_meta().protocol_version()
        && version.as_str() >= ProtocolVersion::V_2026_07_28.as_str()
    {
        let method = match &request.request {
            ClientRequest::InitializeRequest(_) => "initialize",
            ClientRequest::PingRequest(_) => "ping",
            _ => return message,
        };
        let mut unknown = CustomRequest::new(method, None);
        unknown.extensions.insert(request.request.get_meta().clone());
        request.request = ClientRequest::CustomRequest(unknown);
    }
    message
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Paced<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let open = self.open.clone();
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            if let Some(id) = id {
                open.remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while self.open.with(|ids| ids.len()) >= MAX_OPEN {
                self.open.freed.notified().await;
            }
            let Some(message) = self.inner.receive().await else {
                // Whoever waits for changes would keep the server from ending.
                self.end.send_replace(true);
                return None;
            };
            let message = modern(message);
            match &message {
                JsonRpcMessage::Request(request) => match &request.request {
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => {
                        self.open.add(&request.id);
                    }
                    // It stays open as long as the client listens.
                    ClientRequest::SubscriptionsListenRequest(_) => self.began = true,
                    _ => {
                        self.began = true;
                        self.open.add(&request.id);
                    }
                },
                JsonRpcMessage::Notification(notification) => {
                    // The SDK drops the answer of what was cancelled.
                    if let ClientNotification::CancelledNotification(cancelled) =
                        &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.open.remove(id);
                    }
                    // Before anything was asked it means nothing, and would end the SDK.
                    if !self.began {
                        continue;
                    }
                }
                _ if !self.began => continue,
                _ => {}
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
