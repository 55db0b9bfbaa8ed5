//! The MCP server: says in the protocol's words what `serve` looked up, and notes every delivery.

mod address;
pub mod dates;
mod follow;
mod library;
mod list;
mod near;
mod paced;
mod patterns;
mod prompts;
mod read;
mod server;
mod stream;
mod tell;
mod tools;

use anyhow::Context;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::root::Root;
pub use library::Asker;
use library::Library;
use paced::Paced;
use server::Server;

/// Serves a project on standard input and output until the client goes, or a signal comes. `warn`
/// prints a message for the user.
pub fn run(root: Root, asker: Asker, warn: fn(&str)) -> anyhow::Result<()> {
    let library = Library::new(root, asker, warn);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the server")?;
    let result = runtime.block_on(serve(library));
    // A thread may still wait for standard input; nobody needs what it would read.
    runtime.shutdown_background();
    result
}

async fn serve(library: Library) -> anyhow::Result<()> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    let (end, ended) = watch::channel(false);
    let transport = Paced::new(AsyncRwTransport::new_server(reader, writer), end);
    let server = Server::new(library, ended);
    let service = async {
        match server.serve(transport).await {
            Ok(running) => {
                running.waiting().await.context("serve")?;
                Ok(())
            }
            // A client that only asked what the server can do, and went.
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
