//! The compiled component: made once, instantiated for each table.

use crate::bindings::writer::leasebook::lease::marker_files;
use crate::error::LoadError;
use crate::writer::Files;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};
use wasmtime::{Config, Engine, StoreLimits};

/// The component that the crate carries: `wit/`'s world `leasebook` over the core.
const EMBEDDED: &[u8] = include_bytes!(env!("LEASEBOOK_COMPONENT_FOUND"));

/// What the imports of an instance see.
pub(crate) struct State {
    /// The moment of the running operation, read before the call.
    pub now_ms: u64,
    /// The bound on its memory.
    pub limits: StoreLimits,
    /// Where its marker files are; a table has none.
    pub files: Option<Files>,
}

/// A lease component, compiled for this machine. Clones are cheap and share the code.
#[derive(Clone)]
pub struct TableComponent {
    component: Component,
    pre: InstancePre<State>,
}

impl TableComponent {
    /// The component that the crate carries, as it was built: WebAssembly, for any host.
    pub const BINARY: &[u8] = EMBEDDED;

    /// The settings that the crate compiles with. Precompiled code loads only into an engine of equal settings.
    ///
    /// An embedder that wants to bound how long a call may take adds `epoch_interruption`, counts the epoch up, and
    /// says in [`Builder::call_ticks`](crate::Builder::call_ticks) how far it may get during one call.
    pub fn config() -> Config {
        let mut config = Config::new();
        // A trap here means that the table is lost, whatever function it happened in.
        config.wasm_backtrace_max_frames(None).generate_address_map(false);
        config
    }

    /// Compiles the component that the crate carries, in an engine of its own. It takes tens of milliseconds: one for
    /// all the tables of a program.
    pub fn embedded() -> Result<Self, LoadError> {
        Self::from_binary(&own_engine()?, EMBEDDED)
    }

    /// Compiles the component that the crate carries in a given engine.
    pub fn embedded_in(engine: &Engine) -> Result<Self, LoadError> {
        Self::from_binary(engine, EMBEDDED)
    }

    /// Compiles a component: any that exports `leasebook:lease/table` or `leasebook:lease/writer-lease`, and imports no
    /// more than `leasebook:lease/clock` and `leasebook:lease/marker-files`.
    pub fn from_binary(engine: &Engine, bytes: &[u8]) -> Result<Self, LoadError> {
        Self::link(Component::from_binary(engine, bytes).map_err(LoadError::component)?)
    }

    /// Loads what [`TableComponent::precompile`] or the program `leasebook-precompile` made, in an engine of its own:
    /// a fraction of a millisecond. Fails where it was made by another version, for other settings or another machine.
    ///
    /// # Safety
    ///
    /// The bytes are machine code that runs as part of this program, unchecked but for its header: they must come
    /// unchanged from there.
    #[allow(unsafe_code)]
    pub unsafe fn from_precompiled(bytes: &[u8]) -> Result<Self, LoadError> {
        let engine = own_engine()?;
        // SAFETY: the caller says where the bytes come from.
        unsafe { Self::from_precompiled_in(&engine, bytes) }
    }

    /// As [`TableComponent::from_precompiled`], into a given engine.
    ///
    /// # Safety
    ///
    /// As there.
    #[allow(unsafe_code)]
    pub unsafe fn from_precompiled_in(engine: &Engine, bytes: &[u8]) -> Result<Self, LoadError> {
        // SAFETY: the caller says where the bytes come from.
        let component = unsafe { Component::deserialize(engine, bytes) };
        Self::link(component.map_err(LoadError::component)?)
    }

    /// Compiles a component to bytes for [`TableComponent::from_precompiled`].
    pub fn precompile(bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
        own_engine()?.precompile_component(bytes).map_err(LoadError::component)
    }

    /// The engine it was compiled in.
    pub fn engine(&self) -> &Engine {
        self.component.engine()
    }

    pub(crate) fn pre(&self) -> &InstancePre<State> {
        &self.pre
    }

    fn link(component: Component) -> Result<Self, LoadError> {
        let mut linker = Linker::<State>::new(component.engine());
        let pre = linker
            .instance("leasebook:lease/clock@0.1.0")
            .and_then(|mut clock| clock.func_wrap("now", |store, ()| Ok((store.data().now_ms,))))
            .and_then(|()| marker_files::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state))
            .and_then(|()| linker.instantiate_pre(&component));
        Ok(Self { pre: pre.map_err(LoadError::component)?, component })
    }
}

fn own_engine() -> Result<Engine, LoadError> {
    Engine::new(&TableComponent::config()).map_err(LoadError::component)
}
