//! The MCP server: answers requests with the functions of `serve`, and logs every delivery.

mod backpressure;
mod changes;
mod failure;
mod notifications;
mod project;
mod prompts;
mod read;
mod resources;
mod server;
mod templates;
mod tools;

use anyhow::Context;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use backpressure::Backpressure;
pub use project::Asker;
use project::Project;
use server::Server;

use crate::root::Root;

/// Serves a project on standard input and output until the client disconnects or a signal arrives.
/// `global` is the user's own project. `warn` prints a message for the user.
pub fn run(root: Root, global: Option<Root>, asker: Asker, warn: fn(&str)) -> anyhow::Result<()> {
    let project = Project::new(root, global, asker, warn);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the server")?;
    let result = runtime.block_on(serve(project));
    // A thread may still be waiting for standard input, so the runtime is not joined.
    runtime.shutdown_background();
    result
}

async fn serve(project: Project) -> anyhow::Result<()> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    let (end, ended) = watch::channel(false);
    let transport = Backpressure::new(AsyncRwTransport::new_server(reader, writer), end);
    let server = Server::new(project, ended);
    let service = async {
        match server.serve(transport).await {
            Ok(running) => {
                running.waiting().await.context("serve")?;
                Ok(())
            }
            // The client disconnected before it initialized, for example after a probe.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(anyhow::anyhow!("{error}")),
        }
    };
    tokio::select! {
        result = service => result,
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    }
}
