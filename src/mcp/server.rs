//! Passes each request of the protocol to the module that answers it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::watch;

use super::failure::shown;
use super::project::Project;
use super::{backpressure, changes, notifications, prompts, read, resources, templates, tools};
use crate::serve::Text;

/// Maximum number of open streams of changes.
const MAX_STREAMS: usize = 16;

/// Time for which a client may cache a list, in milliseconds. Clients are also notified of changes.
const LIST_FRESH: u64 = 30_000;

/// The server of a client.
pub(super) struct Server {
    project: Arc<Project>,
    /// Number of builds that changed something.
    changes: watch::Sender<u64>,
    /// Set when the client disconnected.
    ended: watch::Receiver<bool>,
    /// True once builds are watched.
    watching: AtomicBool,
    /// True once a client of the older protocol is notified of changes.
    notifying: AtomicBool,
    n_streams: AtomicUsize,
    /// The subscriptions of a client of the older protocol.
    subscriptions: Arc<Mutex<changes::Subscriptions>>,
}

type Context = RequestContext<RoleServer>;

impl Server {
    pub(super) fn new(project: Project, ended: watch::Receiver<bool>) -> Server {
        Server {
            project: Arc::new(project),
            changes: watch::channel(0).0,
            ended,
            watching: AtomicBool::new(false),
            notifying: AtomicBool::new(false),
            n_streams: AtomicUsize::new(0),
            subscriptions: Arc::default(),
        }
    }

    /// Starts to watch builds, once. This happens only after a client is connected, so that the first
    /// answer is not delayed.
    fn watch(&self) {
        if !self.watching.swap(true, Ordering::Relaxed) {
            tokio::spawn(changes::watch_manifest(self.project.clone(), self.changes.clone()));
        }
    }

    fn subscriptions(&self) -> MutexGuard<'_, changes::Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a hint for a list that is empty because nothing was built.
    fn unbuilt_hint(&self) -> Option<MetaObject> {
        let why = self.project.open().built.err()?;
        let mut meta = MetaObject::new();
        meta.insert("blue/hint".to_string(), json!(*why));
        Some(meta)
    }
}

fn is_modern(context: &Context) -> bool {
    backpressure::is_modern(context.protocol_version())
}

/// Adds the server's name, which every result of the newer protocol should carry.
fn add_server_info(context: &Context, meta: &mut Option<MetaObject>) {
    if is_modern(context) {
        let meta = meta.get_or_insert_default();
        meta.insert("io.modelcontextprotocol/serverInfo".to_string(), json!(implementation()));
    }
}

fn implementation() -> Implementation {
    Implementation::new("blue", env!("CARGO_PKG_VERSION")).with_title("blue")
}

/// Returns the time for which a client may cache texts, in milliseconds: the time after which they
/// would be delivered to a session again.
fn cache_time(texts: &[Text]) -> u64 {
    const ON_CHANGE: u64 = 30_000;
    const SESSION: u64 = 3_600_000;
    const ON_REQUEST: u64 = 86_400_000;
    let time = |text: &Text| {
        let Some(line) = &text.line else { return ON_CHANGE };
        match (line.kind.as_str(), line.status.as_str()) {
            _ if text.stale => 0,
            ("adr", _) => SESSION,
            ("rfc", "draft" | "proposed" | "active" | "accepted") => ON_CHANGE,
            ("spike", "active" | "draft") => ON_CHANGE,
            _ => ON_REQUEST,
        }
    };
    texts.iter().map(time).min().unwrap_or(0)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(implementation())
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        if !self.notifying.swap(true, Ordering::Relaxed) {
            let (project, subscriptions) = (self.project.clone(), self.subscriptions.clone());
            let (changes, peer) = (self.changes.subscribe(), context.peer.clone());
            tokio::spawn(notifications::legacy(project, subscriptions, changes, peer));
        }
        self.negotiate_initialize(&request)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.watch();
        let cursor = request.and_then(|request| request.cursor);
        let open = self.project.open();
        let mut result = match open.library(&self.project) {
            Ok(library) => {
                let date = |path: &str| self.project.date(path);
                let resources = resources::list(&library, &date, cursor.as_deref())?;
                ListResourcesResult::with_all_items(resources)
            }
            Err(_) => ListResourcesResult::default(),
        };
        result.meta = self.unbuilt_hint();
        if is_modern(&context) {
            result = result.with_ttl_ms(LIST_FRESH).with_cache_scope(CacheScope::Private);
        }
        add_server_info(&context, &mut result.meta);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.watch();
        let open = self.project.open();
        let library = open.library(&self.project);
        let templates =
            library.map(|library| templates::templates(&self.project, library.resources().n_more));
        let templates = templates.unwrap_or_default();
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        result.meta = self.unbuilt_hint();
        if is_modern(&context) {
            result = result.with_ttl_ms(LIST_FRESH).with_cache_scope(CacheScope::Private);
        }
        add_server_info(&context, &mut result.meta);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.watch();
        let uri = request.uri.as_str();
        let open = self.project.open();
        let texts = read::read(&self.project, &open, uri)
            .map_err(|failure| read::record_refusal(&self.project, uri, failure).error(uri))?;
        for text in &texts {
            // In the log, texts that blue chose differ from texts that the client requested.
            let event = if text.reason.is_some() { "reference" } else { "resources/read" };
            read::record(&self.project, event, text);
        }
        let cache_time = cache_time(&texts);
        let mut result = ReadResourceResult::new(resources::contents(uri, texts));
        if is_modern(&context) {
            result = result.with_ttl_ms(cache_time).with_cache_scope(CacheScope::Private);
        }
        add_server_info(&context, &mut result.meta);
        Ok(ReadResourceResponse::from(result))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = &request.argument;
        let values =
            templates::complete(&self.project, &request.r#ref, argument, request.context.as_ref())?;
        let mut result = CompleteResult::new(values);
        result.meta = self.unbuilt_hint();
        add_server_info(&context, &mut result.meta);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        self.watch();
        let mut result = ListToolsResult::with_all_items(tools::list(&self.project));
        if is_modern(&context) {
            result = result.with_ttl_ms(ALWAYS_FRESH).with_cache_scope(CacheScope::Private);
        }
        add_server_info(&context, &mut result.meta);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        self.watch();
        let mut result = tools::call(&self.project, &request.name, request.arguments)?;
        add_server_info(&context, &mut result.meta);
        Ok(CallToolResponse::from(result))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.watch();
        let mut result = ListPromptsResult::with_all_items(prompts::list());
        if is_modern(&context) {
            result = result.with_ttl_ms(ALWAYS_FRESH).with_cache_scope(CacheScope::Private);
        }
        add_server_info(&context, &mut result.meta);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.watch();
        let mut result = prompts::get(&self.project, &request)?;
        add_server_info(&context, &mut result.meta);
        Ok(GetPromptResponse::from(result))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(changes::MAX_SUBSCRIPTIONS);
            // An unknown address may exist after the next build. An invalid address never will.
            uris.retain(|uri| {
                let checked = read::check(uri);
                checked.map_err(|failure| read::record_refusal(&self.project, uri, failure)).is_ok()
            });
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.watch();
        if self.n_streams.fetch_add(1, Ordering::Relaxed) >= MAX_STREAMS {
            self.n_streams.fetch_sub(1, Ordering::Relaxed);
            let why = format!("at most {MAX_STREAMS} subscriptions may be open; cancel one first");
            return Err(ErrorData::new(ErrorCode::INVALID_REQUEST, why, None));
        }
        let mut ended = self.ended.clone();
        tokio::select! {
            () = notifications::modern(&self.project, self.changes.subscribe(), &context) => {}
            () = context.cancelled() => {}
            _ = ended.wait_for(|ended| *ended) => {}
        }
        self.n_streams.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.watch();
        let uri = request.uri.as_str();
        read::resolve(&self.project, &self.project.open(), uri)
            .map_err(|failure| read::record_refusal(&self.project, uri, failure).error(uri))?;
        match self.subscriptions().add(&self.project, uri) {
            true => Ok(()),
            false => Err(ErrorData::invalid_params("too many subscriptions", None)),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.subscriptions().remove(&request.uri);
        Ok(())
    }

    /// Answers unknown methods. The SDK passes a known method with invalid parameters here too.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let removed = is_modern(&context) && REMOVED.contains(&method.as_str());
        Err(match METHODS.contains(&method.as_str()) && !removed {
            true => ErrorData::invalid_params(format!("bad parameters for {method}"), None),
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shown(&method), None),
        })
    }
}

/// Time for which a client may cache lists that never change while the server runs, in milliseconds.
const ALWAYS_FRESH: u64 = 86_400_000;

/// Methods that the newer protocol does not have.
const REMOVED: &[&str] =
    &["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];

/// Methods that the server has.
const METHODS: &[&str] = &[
    "completion/complete",
    "initialize",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

const INSTRUCTIONS: &str = "\
The decisions and current work of this project: its ADRs, RFCs, plans and other documents, searched \
with blue_related and read with blue_read.
Before a decision, call blue_related with the file or topic at hand; existing decisions are binding. \
blue://context/session is delivered to every session, blue://state/current-rfc is the current work. \
Documents marked superseded are history; follow what replaced them. If an answer says `run blue \
knowledge build`, do so in the project's folder.";
