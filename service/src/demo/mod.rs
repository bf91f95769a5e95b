//! `leasebook demo`: two agents contend for a real directory tree, and two commands for a folder, on one screen.
//!
//! It is the table and the writer lease at work, not a recording: each step is performed, and what is printed is the
//! answer. The tree is only read, and the clock of the table is the story's own, so that nothing waits.

mod screen;
mod story;
mod tree;
mod writers;

use crate::book::{Answer, Book, Fault, RuntimeName};
use crate::exit::Exit;
use crate::stderr;
use anyhow::Context;
use leasebook::Options;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::path::PathBuf;
use story::{Scene, Step, story};
use tree::{Tree, Unusable, project_of};
use writers::Turn;

/// The arguments of `leasebook demo`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct Arguments {
    /// The tree to contend for; it is only read. The project around the current folder where absent
    dir: Option<PathBuf>,
    /// What the table runs on
    #[arg(long, value_enum, default_value_t = RuntimeName::Component)]
    runtime: RuntimeName,
    /// Print the operations and the answers as JSON, in the format of `leasebook table`
    #[arg(long)]
    json: bool,
}

/// A step with what the book said.
struct Played {
    step: Step,
    answer: Answer,
}

/// The demo as JSON.
#[derive(Serialize)]
struct DemoSaid<'a> {
    root: &'a str,
    runtime: &'static str,
    scenes: Vec<SceneSaid<'a>>,
    /// Empty where the system has no `cat` and `true`.
    writers: &'a [Turn],
}

#[derive(Serialize)]
struct SceneSaid<'a> {
    scene: &'a str,
    steps: Vec<StepSaid<'a>>,
}

#[derive(Serialize)]
struct StepSaid<'a> {
    operation: &'a Value,
    answer: &'a Answer,
}

/// Plays the story and prints it.
pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let dir = match &arguments.dir {
        Some(dir) => dir.clone(),
        None => project_of(&std::env::current_dir()?),
    };
    let tree = match Tree::walk(&dir) {
        Ok(tree) => tree,
        Err(unusable) => {
            stderr::say(format_args!("error: contending for {}: {}", dir.display(), why(&unusable)));
            stderr::say("another tree: leasebook demo DIR");
            return Ok(Exit::NoInput);
        }
    };
    let played = match play(&tree, arguments.runtime) {
        Ok(played) => played,
        Err(Fault::Runtime(error)) => {
            stderr::say(format_args!("error: playing the demo: {error:#}"));
            return Ok(Exit::Runtime);
        }
        Err(Fault::Bad(bad)) => anyhow::bail!("the demo asked for something that is no operation: {bad:?}"),
    };
    let turns = if cfg!(unix) { writers::play().context("playing two writers")? } else { Vec::new() };
    let printed = if arguments.json {
        print_json(&tree, arguments.runtime, &played, &turns)
    } else {
        screen::print(&tree, arguments.runtime, &played, &turns)
    };
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(Exit::Success),
    }
}

fn why(unusable: &Unusable) -> String {
    match unusable {
        Unusable::Unreadable(error) => error.to_string(),
        Unusable::Name => "its name is not UTF-8 without backslashes, which a lease table asks for".to_owned(),
        Unusable::TooLittle => "it takes two folders with a file in each, beside hidden and built ones".to_owned(),
    }
}

fn play(tree: &Tree, runtime: RuntimeName) -> Result<Vec<(&'static str, Vec<Played>)>, Fault> {
    let mut book = Book::new(runtime, Options::default())?;
    let mut play = |step: Step| {
        let answer = book.line(step.operation.to_string().as_bytes())?;
        Ok(Played { step, answer })
    };
    let mut scenes = Vec::new();
    for Scene { name, steps } in story(tree) {
        scenes.push((name, steps.into_iter().map(&mut play).collect::<Result<_, Fault>>()?));
    }
    Ok(scenes)
}

fn print_json(tree: &Tree, runtime: RuntimeName, scenes: &[(&str, Vec<Played>)], writers: &[Turn]) -> io::Result<()> {
    let scenes = scenes.iter().map(|(scene, steps)| {
        let steps = steps.iter().map(|Played { step, answer }| StepSaid { operation: &step.operation, answer });
        SceneSaid { scene, steps: steps.collect() }
    });
    let all = DemoSaid { root: &tree.root, runtime: runtime.name(), scenes: scenes.collect(), writers };
    writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&all)?)
}
