//! `leasebook serve`: the coordination service.

mod logs;
mod settings;

use crate::exit::Exit;
use crate::stderr;
use anyhow::Context as _;
use leasebook_server::keys::{Grant, WORKSPACE_DEFAULT};
use leasebook_server::{Running, ServiceError, StoreError};
use logs::Format;
pub use settings::Settings;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use tokio::signal::unix::{SignalKind, signal};

/// Whom the key of `--dev` speaks for. The name leads nowhere: it is reserved for that.
const DEV_ACTOR: &str = "did:web:dev.invalid";
/// How long the key of `--dev` is good, in milliseconds: a day.
const DEV_MS: u64 = 24 * 60 * 60 * 1000;

/// The arguments of `leasebook serve`.
#[derive(clap::Args, Debug)]
#[command(after_help = help())]
pub struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// For trying out: make a key and print it, and let anybody make test keys
    #[arg(long)]
    dev: bool,
    /// How the log on standard error looks: text on a terminal and JSON elsewhere unless set
    #[arg(long, value_enum, env = "LEASEBOOK_LOG_FORMAT")]
    log_format: Option<Format>,
    /// What is logged, as for `RUST_LOG`: warn, info, debug, or leasebook_server=debug
    #[arg(long, default_value = "info", env = "LEASEBOOK_LOG", value_name = "FILTER")]
    log: String,
    /// Print all settings as a configuration file, and serve nothing
    #[arg(long)]
    print_config: bool,
}

fn help() -> String {
    format!(
        "Try it:
  leasebook serve --dev
  leasebook key create --actor did:web:agent-a.example     in another terminal

Settings come from the file, the environment and flags, each stronger than the one before.

{}",
        Exit::help()
    )
}

/// Serves until it is told to end.
pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut config = match arguments.settings.config() {
        Ok(config) => config,
        Err(error) => {
            stderr::say(format_args!("error: {error:#}"));
            return Ok(Exit::Usage);
        }
    };
    config.test_keys |= arguments.dev;
    if arguments.print_config {
        io::stdout().write_all(config.to_toml().as_bytes()).context("print the settings")?;
        return Ok(Exit::Success);
    }
    if let Err(error) = logs::start(arguments.log_format, &arguments.log) {
        stderr::say(format_args!("error: --log: {error}"));
        return Ok(Exit::Usage);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start the runtime")?;
    runtime.block_on(async {
        // Before anybody is told that it serves, so that whoever then ends it does so in order.
        let told_to_end = told_to_end()?;
        let running = match Running::start(&config).await {
            Ok(running) => running,
            Err(error) => {
                stderr::say(format_args!("error: {error}"));
                return Ok(exit(&error));
            }
        };
        let mut said = format!("listening   http://{}\n", running.address());
        if arguments.dev {
            let grant = Grant {
                workspace: WORKSPACE_DEFAULT.into(),
                actor: DEV_ACTOR.into(),
                expires_ms: Some(running.now_ms() + DEV_MS),
                calls_max: None,
            };
            let key = running.keys().create(&grant, running.now_ms()).context("make a key")?.reveal();
            // A string takes everything.
            let _ = writeln!(said, "dashboard   http://{}/#key={key}", running.address());
            let _ = writeln!(
                said,
                "key         {key}\n            for trying out: whoever has it is {DEV_ACTOR}, for a day"
            );
        } else {
            let _ = writeln!(said, "dashboard   http://{}/", running.address());
        }
        let _ = writeln!(said, "data        {}", config.data.display());
        io::stdout().write_all(said.as_bytes()).and_then(|()| io::stdout().flush()).context("say where it listens")?;
        told_to_end.await;
        tracing::info!("ending: who waits is answered, and what is being answered gets 10 seconds");
        running.end().await?;
        Ok(Exit::Success)
    })
}

/// Done when a signal asks for the end; the signals count from this call on.
fn told_to_end() -> anyhow::Result<impl Future<Output = ()>> {
    let doing = "wait for a signal";
    let mut terminate = signal(SignalKind::terminate()).context(doing)?;
    let mut interrupt = signal(SignalKind::interrupt()).context(doing)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// The exit code of a service that did not start.
fn exit(error: &ServiceError) -> Exit {
    match error {
        ServiceError::Config(_) => Exit::Usage,
        ServiceError::Store(StoreError::InUse(_)) => Exit::Busy,
        _ => Exit::Io,
    }
}
