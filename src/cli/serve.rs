//! `pinakes serve`: the catalogue over HTTP.

use super::progress::Progress;
use super::{Done, General, output};
use anyhow::Context;
use pinakes::catalogue::pool;
use pinakes::catalogue::snapshot;
use pinakes::config::Federation;
use pinakes::pipeline::{
    Served, Serving, check_federation, federating, open_views, searching, write_for_server,
};
use pinakes::serve::{Limits, Role, Server, Settings, api, read_host, read_origin};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Where the tokens of a catalogue are kept.
pub(super) const TOKENS: &str = "tokens.toml";

/// Serve the catalogue: SPARQL, linked data, OAI-PMH
///
/// Everything can be read at once; writing needs a token (`pinakes token create`). Other commands
/// work on the catalogue meanwhile, and readers see what they wrote as soon as they say so.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes serve
  pinakes serve --bind localhost:8080 --read-only
  pinakes serve --host books.example --cors https://yasgui.example
  pinakes serve --bind 0.0.0.0:7878 --public --admin-bind 127.0.0.1:7879

The first line on standard output says where it listens. SIGTERM and Ctrl-C finish what is under
way and end it.")]
pub(super) struct Serve {
    /// Where to listen; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878", value_parser = address)]
    bind: SocketAddr,
    /// Mean it that others can reach the address; needs a token
    #[arg(long)]
    public: bool,
    /// Answer to this name, too; may be repeated
    ///
    /// A server that is not public answers to `localhost`, 127.0.0.1, [::1] and the host of the base
    /// IRI, a public one to every name unless some are given. This keeps pages of the web from
    /// reading a catalogue on this machine under a name of their own.
    #[arg(long = "host", value_name = "NAME", value_parser = read_host)]
    hosts: Vec<String>,
    /// Let pages of this origin read, `*` for all; may be repeated
    ///
    /// By default pages of every origin may read what a public server shows everybody, and none what
    /// another one shows. None may write or use a token.
    #[arg(long, value_name = "ORIGIN", value_parser = read_origin)]
    cors: Vec<String>,
    /// Refuse all writing
    #[arg(long)]
    read_only: bool,
    /// Who may read at all: everybody (`anonymous`), or holders of a token
    #[arg(long, value_name = "ROLE", default_value = "anonymous", value_parser = role)]
    read: Role,
    /// A listener of its own for /metrics and /admin/; without it they answer loopback alone
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    admin_bind: Option<SocketAddr>,
    /// Seconds after which a query of somebody without a token is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    query_seconds: u64,
    /// Seconds after which an update is ended that is still being evaluated; it changes nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    update_seconds: u64,
    /// Megabytes of memory a query may take
    #[arg(long, value_name = "MB", default_value_t = 512)]
    query_memory: u64,
    /// Queries that may take long at the same time
    #[arg(long, value_name = "NUMBER")]
    heavy_queries: Option<usize>,
}

/// Reads an address, or a name of this machine and a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let expected = || format!("`{text}` is no address and port, like `127.0.0.1:7878` or `localhost:7878`");
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(|_| expected())?.collect();
    // Of both families, the one that every client has.
    found.iter().find(|address| address.is_ipv4()).or(found.first()).copied().ok_or_else(expected)
}

fn role(text: &str) -> Result<Role, String> {
    if text == "anonymous" { Ok(Role::Anonymous) } else { text.parse() }
}

impl Serve {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let home = general.home()?;
        let tokens = home.directory.join(TOKENS);
        let mut limits = Limits::default();
        limits.anonymous.time = Duration::from_secs(self.query_seconds.max(1));
        limits.holder.time = limits.holder.time.max(limits.anonymous.time);
        let federation = &home.settings.federation;
        check_federation(federation)?;
        let settings = Settings {
            bind: self.bind,
            admin_bind: self.admin_bind,
            public: self.public,
            base: home.graphs.base().to_owned(),
            hosts: self.hosts,
            cors: self.cors,
            read_only: self.read_only,
            federated: !federation.is_empty(),
            read: self.read,
            tokens,
            limits,
        };
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let mut arguments =
            vec!["worker".into(), "--catalogue".into(), home.directory.clone().into_os_string()];
        if settings.federated {
            // Told, not read again: a worker that starts later must not go by another list.
            arguments.extend(["--federation".into(), serde_json::to_string(federation)?.into()]);
        }
        let mut writer = vec!["writer".into(), "--catalogue".into(), home.directory.clone().into_os_string()];
        if let Some(mappings) = &home.mappings {
            writer.extend(["--mappings".into(), mappings.clone().into_os_string()]);
        }
        let mut workers = pool::Settings::new(program, arguments, home.directory.clone());
        workers.federated = if settings.federated { pool::FEDERATED } else { 0 };
        workers.limits.time = settings.limits.anonymous.time;
        workers.limits.memory = self.query_memory.max(16) << 20;
        workers.heavy = self.heavy_queries.unwrap_or(workers.heavy).max(1);
        let serving = Serving {
            pool: workers,
            writer: (!self.read_only).then_some(writer),
            update_time: Duration::from_secs(self.update_seconds.max(1)),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let mut progress = Progress::new(general);
        let finished = runtime.block_on(async {
            let service = Arc::new(Served::new(home, serving, &mut progress)?);
            let time = settings.limits.anonymous.time;
            let search = api::router(Arc::new(service.shelves()), &settings.base, time);
            let server = Server::bind(settings, service, search).await?;
            output::line(&format!(
                "serving {} at http://{}/",
                general.catalogue.display(),
                server.address()
            ))?;
            if let Some(address) = server.admin_address() {
                output::line(&format!("metrics and backups at http://{address}/"))?;
            }
            anyhow::Ok(server.run(asked_to_stop()?).await)
        })?;
        if !finished {
            output::notice("some requests were not finished in time");
        }
        Ok(Done::Well)
    }
}

/// Ends when the process is asked to.
fn asked_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    let stop = Arc::new(Notify::new());
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || asked.notify_one())?;
    Ok(async move { stop.notified().await })
}

/// Answers the queries of a server; started by it.
#[derive(clap::Args)]
pub(super) struct Worker {
    /// The endpoints that queries may ask, in JSON
    #[arg(long, value_parser = federation)]
    federation: Option<Federation>,
}

fn federation(text: &str) -> Result<Federation, serde_json::Error> {
    serde_json::from_str(text)
}

impl Worker {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        // A snapshot can be asked without a catalogue around it; only searching needs one.
        let search = general.home().ok().map(|home| searching(&home));
        let rewrite = search.as_ref().map(|search| search as pool::Rewrite<'_>);
        let federating = self.federation.map(federating).transpose()?;
        let elsewhere = federating.as_ref().map(|federating| federating as pool::Elsewhere<'_>);
        let graphs = general.home().ok().map(|home| home.graphs);
        let open = |number| match &graphs {
            Some(graphs) => {
                let views = |records: &Path| open_views(&general.catalogue, graphs, records);
                snapshot::open(&general.catalogue, number, Some((&views, graphs)))
            }
            None => snapshot::open(&general.catalogue, number, None),
        };
        pool::work(open, rewrite, elsewhere)?;
        Ok(Done::Well)
    }
}

/// Writes what the token holders of a server change; started by it.
#[derive(clap::Args)]
pub(super) struct Writer {}

impl Writer {
    /// How long a change may wait for other writers.
    const PATIENCE: Duration = Duration::from_secs(60);

    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        write_for_server(general.home()?, Self::PATIENCE)?;
        Ok(Done::Well)
    }
}
