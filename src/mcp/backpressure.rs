//! A transport that limits the number of open requests.
//!
//! The SDK keeps reading while answers wait to be written, so its memory would grow without bound if
//! a client stops reading. This transport pauses reading until enough requests are answered.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, GetMeta, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{Notify, watch};

/// Maximum number of requests without an answer and answers that are being written.
const MAX_OPEN: usize = 32;

/// Returns true for a version of the newer protocol.
pub(super) fn is_modern(version: Option<ProtocolVersion>) -> bool {
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// A transport with a limit on open requests.
pub(super) struct Backpressure<T> {
    inner: T,
    queue: Arc<Queue>,
    /// A message that was read but not passed to the SDK yet.
    pending: Option<RxJsonRpcMessage<RoleServer>>,
    /// True after the first request that is not a probe.
    began: bool,
    /// True if the first request was of the newer protocol.
    modern: bool,
    end: watch::Sender<bool>,
}

/// The open requests, and the messages that are being written.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    freed: Notify,
}

#[derive(Default)]
struct QueueState {
    /// Requests without an answer; true for a request for a stream of changes.
    waiting: Vec<(RequestId, bool)>,
    /// Number of messages that are being written.
    n_writing: usize,
}

impl Queue {
    fn with<R>(&self, f: impl FnOnce(&mut QueueState) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_full(&self) -> bool {
        self.with(|state| state.waiting.len() + state.n_writing >= MAX_OPEN)
    }

    fn add(&self, id: &RequestId, is_stream: bool) {
        self.with(|state| state.waiting.push((id.clone(), is_stream)));
    }

    /// Returns true if a request is for a stream of changes. `None` if the request is not waiting.
    fn is_stream(&self, id: &RequestId) -> Option<bool> {
        self.with(|state| state.waiting.iter().find(|(open, _)| open == id).map(|open| open.1))
    }

    /// Removes a request when its answer is being written.
    fn remove(&self, id: &RequestId) {
        self.with(|state| state.waiting.retain(|(open, _)| open != id));
        self.freed.notify_one();
    }

    fn start_writing(&self) {
        self.with(|state| state.n_writing += 1);
    }

    fn end_writing(&self) {
        self.with(|state| state.n_writing -= 1);
        self.freed.notify_one();
    }
}

impl<T> Backpressure<T> {
    /// Wraps a transport; `end` is set when the client disconnects.
    pub(super) fn new(inner: T, end: watch::Sender<bool>) -> Backpressure<T> {
        Backpressure {
            inner,
            queue: Arc::default(),
            pending: None,
            began: false,
            modern: false,
            end,
        }
    }

    /// Returns the message to pass to the SDK. `None` if the SDK must not receive it.
    fn admit(
        &mut self,
        message: RxJsonRpcMessage<RoleServer>,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.hide_older_method(message);
        match &message {
            JsonRpcMessage::Request(request) => {
                let is_probe = matches!(
                    request.request,
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
                );
                let is_stream =
                    matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                self.began |= !is_probe;
                self.queue.add(&request.id, is_stream);
            }
            // The SDK ends if it receives another message before the first request.
            _ if !self.began => return None,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    match self.queue.is_stream(id) {
                        // The request is answered anyway, and the queue waits for the answer.
                        Some(false) => return None,
                        Some(true) => self.queue.remove(id),
                        None => {}
                    }
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// Replaces a request of the newer protocol for a method that only the older protocol has by a
    /// request for an unknown method, because the SDK would treat it as the older protocol. The same
    /// applies to `initialize` in a conversation that began with the newer protocol.
    fn hide_older_method(
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

impl<T: Transport<RoleServer>> Transport<RoleServer> for Backpressure<T> {
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
            self.queue.remove(id);
        }
        self.queue.start_writing();
        let queue = self.queue.clone();
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            queue.end_writing();
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while self.queue.is_full() {
                self.queue.freed.notified().await;
            }
            if self.pending.is_none() {
                self.pending = self.inner.receive().await;
            }
            let id = match &self.pending {
                // This also ends subscriptions, which would keep the server running.
                None => {
                    self.end.send_replace(true);
                    return None;
                }
                Some(JsonRpcMessage::Request(request)) => Some(request.id.clone()),
                Some(_) => None,
            };
            // The SDK would answer only one of two requests with the same id, so the second waits.
            if id.is_some_and(|id| self.queue.is_stream(&id).is_some()) {
                self.queue.freed.notified().await;
                continue;
            }
            if let Some(message) = self.pending.take().and_then(|message| self.admit(message)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
