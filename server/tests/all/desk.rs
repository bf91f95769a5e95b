//! A service of a test's own, and clients of it.

use leasebook_server::Running;
use leasebook_server::config::Config;
use leasebook_server::keys::{Grant, WORKSPACE_DEFAULT};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

pub const LEASE: &str = "/api/v1/acp/coordination/lease";
pub const RELEASE: &str = "/api/v1/acp/coordination/release";
pub const WAIT: &str = "/api/v1/acp/coordination/wait";

/// A service, and the folder it keeps everything in.
pub struct Desk {
    folder: Arc<TempDir>,
    config: Config,
    running: Running,
    http: reqwest::Client,
}

/// One actor with its key.
#[derive(Clone)]
pub struct Agent {
    pub did: String,
    pub key: String,
    base: String,
    http: reqwest::Client,
}

/// A status and a body.
pub type Answer = (u16, Value);

impl Desk {
    pub async fn open() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let mut config = Config {
            listen: ([127, 0, 0, 1], 0).into(),
            data: folder.path().join("book.sqlite"),
            ledger: folder.path().join("ledger"),
            ..Config::default()
        };
        change(&mut config);
        let running = Running::start(&config).await.unwrap();
        Self { folder, config, running, http: reqwest::Client::new() }
    }

    /// Ends the service, and starts it again on the same data.
    pub async fn again(self) -> Self {
        let Self { folder, config, running, http } = self;
        running.end().await.unwrap();
        let running = Running::start(&config).await.unwrap();
        Self { folder, config, running, http }
    }

    pub async fn end(self) {
        self.running.end().await.unwrap();
        drop(self.folder);
    }

    /// Ends the service, and looks at what it leaves.
    pub async fn end_but_keep(self, look: impl FnOnce(&std::path::Path)) {
        self.running.end().await.unwrap();
        look(self.folder.path());
    }

    /// The ledger of a workspace.
    pub fn ledger(&self, workspace: &str) -> std::path::PathBuf {
        self.config.ledger.join(format!("{workspace}.jsonl"))
    }

    pub fn base(&self) -> String {
        format!("http://{}", self.running.address())
    }

    /// An actor with a new key.
    pub fn agent(&self, name: &str) -> Agent {
        let did = format!("did:web:{name}");
        let grant =
            Grant { workspace: WORKSPACE_DEFAULT.into(), actor: did.clone(), expires_ms: None, calls_max: None };
        let key = self.running.keys().create(&grant, self.running.now_ms()).unwrap().reveal();
        self.bearer(&did, &key)
    }

    /// An actor with a key that it has already.
    pub fn bearer(&self, did: &str, key: &str) -> Agent {
        Agent { did: did.into(), key: key.into(), base: self.base(), http: self.http.clone() }
    }
}

impl Agent {
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        let request = self.http.post(format!("{}{path}", self.base)).bearer_auth(&self.key);
        let response = request.json(body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub async fn get(&self, path: &str) -> Answer {
        let response = self.http.get(format!("{}{path}", self.base)).bearer_auth(&self.key).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Asks for one resource, and what else is said.
    pub async fn ask(&self, resource: &str, more: Value) -> Answer {
        let mut body = json!({ "resource": resource, "actorDid": self.did });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post(LEASE, &body).await
    }

    /// A lease that must be granted.
    pub async fn lease(&self, resource: &str) -> Value {
        let (status, body) = self.ask(resource, json!({})).await;
        assert_eq!(status, 200, "{body}");
        body["lease"].clone()
    }

    pub async fn release(&self, resource: &str) -> Answer {
        self.post(RELEASE, &json!({ "resource": resource, "actorDid": self.did })).await
    }
}
