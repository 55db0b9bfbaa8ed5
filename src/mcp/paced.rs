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

/// Requests that wait and answers that are being written, at once.
const MAX_OPEN: usize = 32;

/// A transport that reads no more than it has answered.
pub(super) struct Paced<T> {
    inner: T,
    open: Arc<Open>,
    /// Whether anything but a probe was asked.
    began: bool,
    /// Whether that was in the words of the newer protocol.
    modern: bool,
    end: watch::Sender<bool>,
}

/// What is on its way.
#[derive(Default)]
struct Open {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Default)]
struct State {
    /// Requests that nothing was written for yet.
    waiting: Vec<RequestId>,
    /// Messages that are being written.
    n_writing: usize,
}

impl Open {
    fn with<R>(&self, look: impl FnOnce(&mut State) -> R) -> R {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_full(&self) -> bool {
        self.with(|state| state.waiting.len() + state.n_writing >= MAX_OPEN)
    }

    fn wait_for(&self, id: &RequestId) {
        self.with(|state| {
            // Of two with one id the SDK answers at least one; the writing is counted for each.
            if !state.waiting.contains(id) {
                state.waiting.push(id.clone());
            }
        });
    }

    /// Nothing will be written for a request, or it is being written.
    fn settle(&self, id: &RequestId) {
        self.with(|state| state.waiting.retain(|open| open != id));
        self.freed.notify_one();
    }

    fn begin(&self) {
        self.with(|state| state.n_writing += 1);
    }

    fn end(&self) {
        self.with(|state| state.n_writing -= 1);
        self.freed.notify_one();
    }
}

impl<T> Paced<T> {
    /// Wraps a transport; `end` hears when the client is gone.
    pub(super) fn new(inner: T, end: watch::Sender<bool>) -> Paced<T> {
        Paced { inner, open: Arc::default(), began: false, modern: false, end }
    }
}

impl<T> Paced<T> {
    /// A request of the newer protocol for a method that only the older one has is handed on as what it
    /// is there: unknown. The SDK would take it for the older protocol. So is `initialize` in a
    /// conversation that began with the newer one.
    fn of_era(
        &mut self,
        mut message: RxJsonRpcMessage<RoleServer>,
    ) -> RxJsonRpcMessage<RoleServer> {
        let JsonRpcMessage::Request(request) = &mut message else { return message };
        let version = request.request.get_meta().protocol_version();
        let newest = ProtocolVersion::V_2026_07_28;
        let is_modern = version.is_some_and(|version| version.as_str() >= newest.as_str());
        let method = match &request.request {
            ClientRequest::InitializeRequest(_) if is_modern || self.modern => "initialize",
            ClientRequest::PingRequest(_) if is_modern => "ping",
            ClientRequest::DiscoverRequest(_) => return message,
            _ => {
                self.modern |= is_modern && !self.began;
                return message;
            }
        };
        let mut unknown = CustomRequest::new(method, None);
        unknown.extensions.insert(request.request.get_meta().clone());
        request.request = ClientRequest::CustomRequest(unknown);
        message
    }
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
        if let Some(id) = &id {
            self.open.settle(id);
        }
        self.open.begin();
        let open = self.open.clone();
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            open.end();
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while self.open.is_full() {
                self.open.freed.notified().await;
            }
            let Some(message) = self.inner.receive().await else {
                // Whoever waits for changes would keep the server from ending.
                self.end.send_replace(true);
                return None;
            };
            let message = self.of_era(message);
            match &message {
                JsonRpcMessage::Request(request) => match &request.request {
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => {
                        self.open.wait_for(&request.id);
                    }
                    // It stays open as long as the client listens.
                    ClientRequest::SubscriptionsListenRequest(_) => self.began = true,
                    _ => {
                        self.began = true;
                        self.open.wait_for(&request.id);
                    }
                },
                JsonRpcMessage::Notification(notification) => {
                    // The SDK drops the answer of what was cancelled.
                    if let ClientNotification::CancelledNotification(cancelled) =
                        &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.open.settle(id);
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
