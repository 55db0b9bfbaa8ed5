//! The protocol's requests, each handed to the file that answers it.

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

use super::address::{self, Failure};
use super::library::Library;
use super::read::Given;
use super::{follow, list, paced, patterns, prompts, read, stream, tools};

/// Streams of changes that may be open at once.
const MAX_STREAMS: usize = 16;

/// How long a list may be taken as fresh, in milliseconds: changes are told anyway.
const LIST_FRESH: u64 = 30_000;

/// The server of one client.
pub(super) struct Server {
    library: Arc<Library>,
    /// Grows with every build that changed something.
    changes: watch::Sender<u64>,
    /// Set when the client is gone.
    ended: watch::Receiver<bool>,
    following: AtomicBool,
    /// Whether a client of the older protocol is told of changes.
    told: AtomicBool,
    n_streams: AtomicUsize,
    /// What a client of the older protocol wants to hear of.
    subscribed: Arc<Mutex<follow::Subscribed>>,
}

type Context = RequestContext<RoleServer>;

impl Server {
    pub(super) fn new(library: Library, ended: watch::Receiver<bool>) -> Server {
        Server {
            library: Arc::new(library),
            changes: watch::channel(0).0,
            ended,
            following: AtomicBool::new(false),
            told: AtomicBool::new(false),
            n_streams: AtomicUsize::new(0),
            subscribed: Arc::default(),
        }
    }

    /// Starts to follow builds, once. Not before somebody asks for more than what the server is,
    /// so that the first answer waits for nothing.
    fn follow(&self) {
        if !self.following.swap(true, Ordering::Relaxed) {
            tokio::spawn(follow::manifest(self.library.clone(), self.changes.clone()));
            follow::dates(self.library.clone(), self.changes.clone());
        }
    }

    fn subscribed(&self) -> MutexGuard<'_, follow::Subscribed> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The note that a list is empty because nothing was built.
    fn unbuilt(&self) -> Option<MetaObject> {
        let why = self.library.open().shelf.err()?;
        let mut meta = MetaObject::new();
        meta.insert("blue/hint".to_string(), json!(*why));
        Some(meta)
    }
}

fn is_modern(context: &Context) -> bool {
    paced::is_modern(context.protocol_version())
}

/// Adds what every result of the newer protocol should carry.
fn signed(context: &Context, meta: &mut Option<MetaObject>) {
    if is_modern(context) {
        let known = meta.get_or_insert_default();
        known.insert("io.modelcontextprotocol/serverInfo".to_string(), json!(implementation()));
    }
}

fn implementation() -> Implementation {
    Implementation::new("blue", env!("CARGO_PKG_VERSION")).with_title("blue")
}

/// How long a text may be taken as fresh: by when a session would be given it again.
fn fresh_for(given: &[Given]) -> u64 {
    const ON_CHANGE: u64 = 30_000;
    const SESSION: u64 = 3_600_000;
    const ON_REQUEST: u64 = 86_400_000;
    let fresh = |given: &Given| {
        let Some(line) = &given.line else { return ON_CHANGE };
        match (line.kind.as_str(), line.status.as_str()) {
            _ if given.stale => 0,
            ("adr", _) => SESSION,
            ("rfc", "draft" | "proposed" | "active" | "accepted") => ON_CHANGE,
            ("spike", "active" | "draft") => ON_CHANGE,
            _ => ON_REQUEST,
        }
    };
    given.iter().map(fresh).min().unwrap_or(0)
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
        if !self.told.swap(true, Ordering::Relaxed) {
            let (library, wanted) = (self.library.clone(), self.subscribed.clone());
            let (changes, peer) = (self.changes.subscribe(), context.peer.clone());
            tokio::spawn(stream::legacy(library, wanted, changes, peer));
        }
        self.negotiate_initialize(&request)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.follow();
        let cursor = request.and_then(|request| request.cursor);
        let mut result = match &self.library.open().shelf {
            Ok(shelf) => {
                let (resources, next) = list::page(&self.library, shelf, cursor.as_deref())?;
                let mut result = ListResourcesResult::with_all_items(resources);
                result.next_cursor = next;
                result
            }
            Err(_) => ListResourcesResult::default(),
        };
        result.meta = self.unbuilt();
        if is_modern(&context) {
            result = result.with_ttl_ms(LIST_FRESH).with_cache_scope(CacheScope::Private);
        }
        signed(&context, &mut result.meta);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.follow();
        let meta = self.unbuilt();
        let templates = if meta.is_some() { Vec::new() } else { patterns::templates() };
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        result.meta = meta;
        if is_modern(&context) {
            result = result.with_ttl_ms(LIST_FRESH).with_cache_scope(CacheScope::Private);
        }
        signed(&context, &mut result.meta);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.follow();
        let uri = request.uri.as_str();
        let open = self.library.open();
        let given = read::read(&self.library, &open, uri)
            .map_err(|failure| read::noted(&self.library, uri, failure).error(uri))?;
        for given in &given {
            // What blue chose is told apart from what somebody asked for.
            let event = if given.why.is_some() { "reference" } else { "resources/read" };
            read::note(&self.library, event, given);
        }
        let fresh = fresh_for(&given);
        let mut result = ReadResourceResult::new(list::contents(uri, given));
        if is_modern(&context) {
            result = result.with_ttl_ms(fresh).with_cache_scope(CacheScope::Private);
        }
        signed(&context, &mut result.meta);
        Ok(ReadResourceResponse::from(result))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = &request.argument;
        let values =
            patterns::complete(&self.library, &request.r#ref, argument, request.context.as_ref())?;
        let mut result = CompleteResult::new(values);
        result.meta = self.unbuilt();
        signed(&context, &mut result.meta);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        self.follow();
        let mut result = ListToolsResult::with_all_items(tools::list());
        if is_modern(&context) {
            result = result.with_ttl_ms(ALWAYS_FRESH).with_cache_scope(CacheScope::Private);
        }
        signed(&context, &mut result.meta);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        self.follow();
        let mut result = tools::call(&self.library, &request.name, request.arguments)?;
        signed(&context, &mut result.meta);
        Ok(CallToolResponse::from(result))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.follow();
        let mut result = ListPromptsResult::with_all_items(prompts::list());
        if is_modern(&context) {
            result = result.with_ttl_ms(ALWAYS_FRESH).with_cache_scope(CacheScope::Private);
        }
        signed(&context, &mut result.meta);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.follow();
        let mut result = prompts::get(&self.library, &request)?;
        signed(&context, &mut result.meta);
        Ok(GetPromptResponse::from(result))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            let open = self.library.open();
            uris.truncate(follow::MAX_SUBSCRIBED);
            // An address that means nothing yet may mean something after the next build.
            uris.retain(|uri| {
                let meaning = address::bare_meaning(&self.library, &open, uri);
                let meaning = meaning.map_err(|failure| read::noted(&self.library, uri, failure));
                !matches!(meaning, Err(Failure::Refused(_)))
            });
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.follow();
        if self.n_streams.fetch_add(1, Ordering::Relaxed) >= MAX_STREAMS {
            self.n_streams.fetch_sub(1, Ordering::Relaxed);
            let why = format!("at most {MAX_STREAMS} subscriptions may be open; cancel one first");
            return Err(ErrorData::new(ErrorCode::INVALID_REQUEST, why, None));
        }
        let mut ended = self.ended.clone();
        tokio::select! {
            () = stream::modern(&self.library, self.changes.subscribe(), &context) => {}
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
        self.follow();
        let uri = request.uri.as_str();
        address::meaning(&self.library, &self.library.open(), uri)
            .map_err(|failure| read::noted(&self.library, uri, failure).error(uri))?;
        match self.subscribed().add(&self.library, uri) {
            true => Ok(()),
            false => Err(ErrorData::invalid_params("too many subscriptions", None)),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.subscribed().remove(&request.uri);
        Ok(())
    }

    /// The SDK takes a known method with parameters it cannot read for an unknown one.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let gone = is_modern(&context) && GONE.contains(&method.as_str());
        Err(match METHODS.contains(&method.as_str()) && !gone {
            true => ErrorData::invalid_params(format!("bad parameters for {method}"), None),
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, address::shown(&method), None),
        })
    }
}

/// What does not change while a server runs, in milliseconds.
const ALWAYS_FRESH: u64 = 86_400_000;

/// Methods that the newer protocol does not have any more.
const GONE: &[&str] =
    &["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];

/// Methods that are answered when their parameters are right.
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
What this project decided and is working on: its ADRs, RFCs, plans and other documents, searched \
with blue_related and read with blue_read.
Before a decision, call blue_related with the file or topic at hand; what is decided already binds. \
blue://context/session is what every session is told, blue://state/current-rfc the current work. \
Documents marked superseded are history; follow what replaced them. If an answer says `run blue \
knowledge build`, do so in the project's folder.";
