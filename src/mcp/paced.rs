//! The wire, with a limit on how many requests are open at once.
//!
//! The SDK reads on while answers wait to be written, so a client that stops reading would make it
//! grow without bound. Here nothing more is read until enough of what was read is answered.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, GetMeta, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{Notify, watch};

/// Requests that wait and answers that are being written, at once.
const MAX_OPEN: usize = 32;

/// Whether a version of the protocol is of the newer era.
pub(super) fn is_modern(version: Option<ProtocolVersion>) -> bool {
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// A transport that reads no more than it has answered.
pub(super) struct Paced<T> {
    inner: T,
    open: Arc<Open>,
    /// A message that was read and waits for its turn.
    held: Option<RxJsonRpcMessage<RoleServer>>,
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
    /// Requests that nothing was written for yet, and whether each asks for a stream of changes.
    waiting: Vec<(RequestId, bool)>,
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

    fn wait_for(&self, id: &RequestId, stream: bool) {
        self.with(|state| state.waiting.push((id.clone(), stream)));
    }

    /// Whether a request waits, and whether it asks for a stream.
    fn waits(&self, id: &RequestId) -> Option<bool> {
        self.with(|state| state.waiting.iter().find(|(open, _)| open == id).map(|open| open.1))
    }

    /// What is said to a request is being written.
    fn settle(&self, id: &RequestId) {
        self.with(|state| state.waiting.retain(|(open, _)| open != id));
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
        Paced { inner, open: Arc::default(), held: None, began: false, modern: false, end }
    }

    /// A message that goes on to the SDK, or not.
    fn admitted(
        &mut self,
        message: RxJsonRpcMessage<RoleServer>,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.of_era(message);
        match &message {
            JsonRpcMessage::Request(request) => {
                let probe = matches!(
                    request.request,
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
                );
                let stream =
                    matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                self.began |= !probe;
                self.open.wait_for(&request.id, stream);
            }
            // Before anything was asked it means nothing, and would end the SDK.
            _ if !self.began => return None,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    match self.open.waits(id) {
                        // It is as good as answered, and the answer is what is waited for.
                        Some(false) => return None,
                        Some(true) => self.open.settle(id),
                        None => {}
                    }
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// A request of the newer protocol for a method that only the older one has is handed on as what it
    /// is there: unknown. The SDK would take it for the older protocol. So is `initialize` in a
    /// conversation that began with the newer one.
    fn of_era(
        &mut self,
        mut message: RxJsonRpcMessage<RoleServer>,
    ) -> RxJsonRpcMessage<RoleServer> {
        let JsonRpcMessage::Request(request) = &mut message else { return message };
        let is_modern = is_modern(request.request.get_meta().protocol_version());
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
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::SubscriptionsAcknowledgedNotification(_) => {
                    notification.notification.get_meta().subscription_id()
                }
                _ => None,
            },
            JsonRpcMessage::Request(_) => None,
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
            if self.held.is_none() {
                self.held = self.inner.receive().await;
            }
            let id = match &self.held {
                // Whoever waits for changes would keep the server from ending.
                None => {
                    self.end.send_replace(true);
                    return None;
                }
                Some(JsonRpcMessage::Request(request)) => Some(request.id.clone()),
                Some(_) => None,
            };
            // Of two requests with one id the SDK would answer one; they are taken one by one.
            if id.is_some_and(|id| self.open.waits(&id).is_some()) {
                self.open.freed.notified().await;
                continue;
            }
            if let Some(message) = self.held.take().and_then(|message| self.admitted(message)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
