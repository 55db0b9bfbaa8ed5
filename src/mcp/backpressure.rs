//! A transport that limits how many requests are open at once.
//!
//! The SDK goes on reading while answers wait to be written, so a client that stops reading would
//! make it grow without bound. This transport reads no more until enough requests are answered.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, GetMeta, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{Notify, watch};

/// Requests without an answer and answers that are being written, at once.
const MAX_OPEN: usize = 32;

/// Returns true for a version of the newer protocol.
pub(super) fn is_modern(version: Option<ProtocolVersion>) -> bool {
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// A transport with a limit on open requests.
pub(super) struct Backpressure<T> {
    inner: T,
    queue: Arc<Queue>,
    /// A message that was read and not passed on yet.
    pending: Option<RxJsonRpcMessage<RoleServer>>,
    /// True after the first request that is no probe.
    began: bool,
    /// True if that request was of the newer protocol.
    modern: bool,
    end: watch::Sender<bool>,
}

/// The requests and answers on their way.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    freed: Notify,
}

#[derive(Default)]
struct QueueState {
    /// Requests without an answer; true for one that asks for a stream of changes.
    waiting: Vec<(RequestId, bool)>,
    /// Messages that are being written.
    n_writing: usize,
}

impl Queue {
    fn with<R>(&self, f: impl FnOnce(&mut QueueState) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_full(&self) -> bool {
        self.with(|state| state.waiting.len() + state.n_writing >= MAX_OPEN)
    }

    fn add(&self, id: &RequestId, stream: bool) {
        self.with(|state| state.waiting.push((id.clone(), stream)));
    }

    /// Returns whether a request asks for a stream. `None` if it is not waiting.
    fn is_stream(&self, id: &RequestId) -> Option<bool> {
        self.with(|state| state.waiting.iter().find(|(open, _)| open == id).map(|open| open.1))
    }

    /// Removes a request: its answer is being written.
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

    /// Returns a message for the SDK. `None` if the SDK must not see it.
    fn admit(
        &mut self,
        message: RxJsonRpcMessage<RoleServer>,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.hide_older_method(message);
        match &message {
            JsonRpcMessage::Request(request) => {
                let probe = matches!(
                    request.request,
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
                );
                let stream =
                    matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                self.began |= !probe;
                self.queue.add(&request.id, stream);
            }
            // Before the first request it means nothing, and would end the SDK.
            _ if !self.began => return None,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    match self.queue.is_stream(id) {
                        // The request is answered all the same, and the queue waits for the answer.
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

    /// Turns a request of the newer protocol for a method of the older one into one for an unknown
    /// method. The SDK would take it for the older protocol. The same goes for `initialize` in a
    /// conversation that began with the newer one.
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
                // A subscription that waits for changes would keep the server running.
                None => {
                    self.end.send_replace(true);
                    return None;
                }
                Some(JsonRpcMessage::Request(request)) => Some(request.id.clone()),
                Some(_) => None,
            };
            // Of two requests with one id the SDK would answer one, so the second waits.
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
