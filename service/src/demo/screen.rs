//! The story on one screen: a line for each step, and below it the table's own sentence where it refuses.

use super::Played;
use super::story::{REVIEWER, Step, WRITER};
use super::tree::Tree;
use super::writers::{EXPORT, NIGHTLY, Turn};
use crate::book::{Answer, Refused, RuntimeName};
use anstyle::{AnsiColor, Style};
use leasebook::Refusal;
use std::io::{self, Write};

/// No line is longer, in characters.
const WIDTH: usize = 100;
/// How far the sentences are moved in.
const INDENT: usize = 6;
/// A path that is longer loses its beginning.
const OBJECT_MAX: usize = 24;

const STRONG: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const NO: Style = AnsiColor::Red.on_default().bold();
const WAITS: Style = AnsiColor::Yellow.on_default().bold();
const FIRST: Style = AnsiColor::Cyan.on_default();
const SECOND: Style = AnsiColor::Magenta.on_default();

/// Prints the scenes; coloured on a terminal, unless it or the environment asks for none.
pub fn print(tree: &Tree, runtime: RuntimeName, scenes: &[(&str, Vec<Played>)], writers: &[Turn]) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let (asks_width, name_width) = widths(scenes);
    let runs_on = match runtime {
        RuntimeName::Component => "a WebAssembly component, run by wasmtime",
        RuntimeName::Native => "linked into this program",
    };
    let Tree { root, files, folders, .. } = tree;
    let title = format!("Two agents share {} ({files} files in {folders} folders; only read here).", cut(root, 40));
    styled(&mut out, STRONG, &title)?;
    writeln!(out, "\nWho wants to write asks the lease table first: {runs_on}.")?;
    writeln!(out, "Times are minutes and seconds of a clock that this demo moves. A lease here lasts 5 minutes.\n")?;
    for (name, steps) in scenes {
        for (n, played) in steps.iter().enumerate() {
            let name = if n == 0 { name } else { "" };
            styled(&mut out, STRONG, &format!("{name:<name_width$}"))?;
            line(&mut out, played, asks_width)?;
            if let Some(sentence) = sentence(&played.answer) {
                for part in wrapped(&shortened(sentence, &tree.root), WIDTH - INDENT) {
                    writeln!(out, "{:INDENT$}{part}", "")?;
                }
            }
        }
    }
    print_writers(&mut out, writers, name_width)?;
    writeln!(out, "\nYour own: `leasebook demo DIR`. As JSON: `--json`. To drive a table: `leasebook table --help`.")
}

/// The second part, in the columns of the first but for the time.
fn print_writers(out: &mut impl Write, turns: &[Turn], name_width: usize) -> io::Result<()> {
    if turns.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    styled(out, STRONG, "Two commands write to one folder, each under `leasebook run`.")?;
    writeln!(out, " These are processes and files.\n")?;
    let width = turns.iter().map(|turn| turn.command.chars().count()).max().unwrap_or(0);
    let mut scene = "";
    for turn in turns {
        let name = if turn.scene == scene { "" } else { turn.scene };
        scene = turn.scene;
        styled(out, STRONG, &format!("{name:<name_width$}"))?;
        let who = if turn.who == NIGHTLY { FIRST } else { SECOND };
        write!(out, "  ")?;
        styled(out, who, &format!("{:<width$}", turn.who, width = NIGHTLY.len().max(EXPORT.len())))?;
        write!(out, "  {:<width$}  ", turn.command)?;
        let style = match turn.code {
            None => WAITS,
            Some(0) => GOOD,
            Some(_) => NO,
        };
        styled(out, style, &turn.ended)?;
        writeln!(out)?;
        for part in wrapped(&turn.said, WIDTH - INDENT).iter().filter(|_| !turn.said.is_empty()) {
            writeln!(out, "{:INDENT$}{part}", "")?;
        }
    }
    Ok(())
}

fn widths(scenes: &[(&str, Vec<Played>)]) -> (usize, usize) {
    let asks = scenes.iter().flat_map(|(_, steps)| steps).map(|played| asks(&played.step).chars().count());
    let names = scenes.iter().map(|(name, _)| name.chars().count());
    (asks.max().unwrap_or(0), names.max().unwrap_or(0))
}

fn line(out: &mut impl Write, Played { step, answer, .. }: &Played, asks_width: usize) -> io::Result<()> {
    let seconds = step.at_ms / 1000;
    write!(out, "  {:>2}:{:02}  ", seconds / 60, seconds % 60)?;
    let who = if step.who == WRITER { FIRST } else { SECOND };
    styled(out, who, &format!("{:<width$}", step.who, width = WRITER.len().max(REVIEWER.len())))?;
    write!(out, "  {:<asks_width$}  ", asks(step))?;
    let (style, said, more) = said(answer);
    styled(out, style, said)?;
    writeln!(out, "{more}")
}

fn asks(step: &Step) -> String {
    format!("{} {}", step.verb, cut(&step.object, OBJECT_MAX))
}

/// An answer in a word, and what more there is to it.
fn said(answer: &Answer) -> (Style, &'static str, String) {
    match answer {
        Answer::Attempt(Ok(leases)) => {
            let first = leases.first().map_or(0, |lease| lease.generation);
            (GOOD, "granted", format!(" as generation {first}"))
        }
        Answer::Attempt(Err(refused)) => match waits_for(refused) {
            Some(holder) => (WAITS, "waits", format!(" for {holder}")),
            None if matches!(refused.reason, Refusal::Conflict(_)) => (NO, "refused", String::new()),
            None => (NO, "refused", format!(": {}", refused.reason.reason())),
        },
        Answer::Refreshed(Err(refused)) => (NO, "refused", format!(": {}", refused.reason.reason())),
        Answer::Pinned(Ok(_)) => (GOOD, "pinned", ": a write begins".to_owned()),
        Answer::Found(true) => (GOOD, "done", String::new()),
        _ => (NO, "not as told", String::new()),
    }
}

/// Whom a registered waiter waits for.
fn waits_for(refused: &Refused<Refusal>) -> Option<&str> {
    match &refused.reason {
        Refusal::Conflict(blocked) => blocked.blockers.first().map(|holder| holder.as_str()),
        _ => None,
    }
}

/// The sentence of a refusal; a waiter's was said before.
fn sentence(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Attempt(Err(refused)) if waits_for(refused).is_none() => Some(&refused.sentence),
        Answer::Refreshed(Err(refused)) => Some(&refused.sentence),
        _ => None,
    }
}

fn styled(out: &mut impl Write, style: Style, text: &str) -> io::Result<()> {
    write!(out, "{style}{text}{style:#}")
}

/// Paths as they are below the root.
fn shortened(sentence: &str, root: &str) -> String {
    if root == "/" { sentence.to_owned() } else { sentence.replace(&format!("{root}/"), "") }
}

/// The end of a text that is too long, which of a path says the most.
fn cut(text: &str, width: usize) -> String {
    match text.chars().count().checked_sub(width) {
        None | Some(0) => text.to_owned(),
        Some(over) => format!("…{}", text.chars().skip(over + 1).collect::<String>()),
    }
}

/// Whole words in lines of at most a width; a longer word is broken.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one from the start");
        let (used, wanted) = (line.chars().count(), word.chars().count());
        if used > 0 && used + 1 + wanted <= width {
            line.push(' ');
            line.push_str(word);
        } else if used == 0 && wanted <= width {
            line.push_str(word);
        } else {
            let letters: Vec<char> = word.chars().collect();
            lines.extend(letters.chunks(width).map(|part| part.iter().collect()));
        }
    }
    lines.retain(|line: &String| !line.is_empty());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words_where_they_can_be() {
        assert_eq!(wrapped("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrapped("abcdefg h", 3), ["abc", "def", "g h"]);
        assert_eq!(wrapped("", 3), [""; 0]);
    }

    #[test]
    fn long_paths_keep_their_end() {
        assert_eq!(cut("acquire a/b", 11), "acquire a/b");
        assert_eq!(cut("acquire a/long/b", 8), "…/long/b");
        assert_eq!(shortened("/r/a is inside /r/b", "/r"), "a is inside b");
        assert_eq!(shortened("/a is inside /b", "/"), "/a is inside /b");
    }
}
