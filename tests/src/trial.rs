//! One run on a table, on the reference model and on twins of the table, compared after every operation.
//!
//! The twins: a *quiet* table under another hash key, which nobody looks at in between; and a *restored* one, replaced
//! now and then by what the records of the table make. All of them must say the same at every step.

use crate::agree::{departure, difference};
use crate::decode::Run;
use crate::facts::Observer;
use crate::line;
use crate::model::{Edges, Model};
use crate::op::{Answer, Op, Timed};
use crate::step::{STEP_BYTES, Step, Universe, resolve};
use leasebook::{Millis, Mode, Options, Record, Table};
use std::fmt::Write;

/// Runs all steps. An error says the operations as lines of the vector format, and what was wrong at the last.
pub fn run(run: &Run) -> Result<(), String> {
    let mut trial = Trial::new(run);
    for step in &run.steps {
        trial.step(*step).map_err(|fault| trial.report(&fault))?;
    }
    trial.finish().map_err(|fault| trial.report(&fault))
}

struct Trial {
    options: Options,
    universe: Universe,
    now_ms: u64,
    model: Model,
    table: Table,
    quiet: Table,
    restored: Table,
    /// Everything that the table said must be durable.
    journal: Vec<Record>,
    observer: Observer,
    history: Vec<Timed>,
}

impl Trial {
    fn new(run: &Run) -> Self {
        let options = Options { events: 10_000, journal: true, hash_key: 1, ..run.options.clone() };
        // The clock begins at the start, so that one that runs back runs back on everybody.
        let begin = Millis::new(run.start_ms);
        let table = |options| {
            let mut table = Table::new(options).expect("options within their bounds");
            table.status(begin);
            table
        };
        let mut model = Model::new(options.clone());
        model.status(begin);
        Self {
            model,
            table: table(options.clone()),
            quiet: table(Options { hash_key: 2, ..run.options.clone() }),
            restored: table(Options { hash_key: 3, ..run.options.clone() }),
            now_ms: run.start_ms,
            universe: run.universe,
            journal: Vec::new(),
            observer: Observer::default(),
            history: Vec::new(),
            options,
        }
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        let stands = self.model.clone().status(Millis::new(self.now_ms));
        let timed = resolve(self.universe, step, self.now_ms, &stands);
        self.look_on_the_way_to(timed.at_ms)?;
        self.now_ms = self.now_ms.max(timed.at_ms);
        self.history.push(timed.clone());

        let expected = timed.on_model(&mut self.model);
        let found = timed.on_table(&mut self.table);
        let edges = match &timed.op {
            Op::Wait(wait) => wait.with(|attempt| self.model.lease_edges_with(attempt)),
            _ => Edges::new(),
        };
        say("the table", difference(&expected, &found, &edges))?;
        say("a table that nobody looks at", departure(&found, &timed.on_table(&mut self.quiet)))?;
        say("a restored table", departure(&found, &timed.on_table(&mut self.restored)))?;

        self.journal.extend(self.table.take_records());
        let status = self.compare_looks()?;
        let events = self.table.take_events();
        let Answer::Ready(ready) = self.at_once(Op::Ready).on_table(&mut self.table) else { unreachable!() };
        let told = self.observer.see((self.now_ms, &timed, &found), &events, &status, &ready);
        told.map_err(|fault| format!("events: {fault}\namong {events:#?}"))?;
        self.restore_perhaps(step[STEP_BYTES - 1])
    }

    /// Somebody looks at the table at moments in between. That must change nothing.
    fn look_on_the_way_to(&mut self, at_ms: u64) -> Result<(), String> {
        let moments = [self.now_ms.saturating_add(1), self.now_ms.midpoint(at_ms), at_ms.saturating_sub(1)];
        for moment in moments.into_iter().filter(|moment| (self.now_ms + 1..at_ms).contains(moment)) {
            let covering = Op::Covering { holder: "ada".into(), path: "/d/x".into(), mode: Mode::Shared };
            for op in [Op::Ready, Op::Status, Op::NextDeadline, Op::Leases, covering] {
                let timed = Timed { at_ms: moment, op };
                let expected = timed.on_model(&mut self.model.clone());
                let found = timed.on_table(&mut self.table);
                say(
                    "a look in between",
                    difference(&expected, &found, &Edges::new()).map(|fault| format!("{timed:?}\n{fault}")),
                )?;
            }
        }
        Ok(())
    }

    fn at_once(&self, op: Op) -> Timed {
        Timed { at_ms: self.now_ms, op }
    }

    /// Status, who is ready and the next deadline are what the model says.
    fn compare_looks(&mut self) -> Result<leasebook::Status, String> {
        for op in [Op::Ready, Op::NextDeadline] {
            let timed = self.at_once(op);
            let expected = timed.on_model(&mut self.model);
            let found = timed.on_table(&mut self.table);
            say(
                "afterwards",
                difference(&expected, &found, &Edges::new()).map(|fault| format!("{:?}\n{fault}", timed.op)),
            )?;
        }
        let timed = self.at_once(Op::Status);
        let (expected, found) = (timed.on_model(&mut self.model), timed.on_table(&mut self.table));
        say("status", difference(&expected, &found, &Edges::new()))?;
        let Answer::Status(status) = found else { unreachable!() };
        if self.table.standing() != status.leases.len() {
            return Err(format!("{} leases are said to stand, {} do", self.table.standing(), status.leases.len()));
        }
        Ok(status)
    }

    fn restore_perhaps(&mut self, byte: u8) -> Result<(), String> {
        let options = Options { hash_key: 4, ..self.options.clone() };
        let restored = match byte % 8 {
            0 => Table::restore(options, self.table.records()),
            1 => Table::restore(options, self.journal.clone()),
            _ => return Ok(()),
        };
        self.restored = restored.map_err(|fault| format!("a table does not come back from its records: {fault}"))?;
        // That time has passed is nothing that a journal tells; a host's clock does.
        let seen = self.restored.status(Millis::new(self.now_ms));
        let expected = self.model.status(Millis::new(self.now_ms));
        if seen != expected {
            return Err(format!("restored ({}): expected {expected:?}\n   found {seen:?}", byte % 8));
        }
        Ok(())
    }

    /// In the end all of them hold the same.
    fn finish(&mut self) -> Result<(), String> {
        let expected = Answer::Status(self.model.status(Millis::new(self.now_ms)));
        for (name, table) in [("quiet", &mut self.quiet), ("restored", &mut self.restored)] {
            let found = Answer::Status(table.status(Millis::new(self.now_ms)));
            say(name, difference(&expected, &found, &Edges::new()))?;
            if table.records() != self.table.records() {
                let (expected, found) = (self.table.records(), table.records());
                return Err(format!("{name}: expected records {expected:?}\n   found {found:?}"));
            }
        }
        Ok(())
    }

    fn report(&self, fault: &str) -> String {
        let first = self.history.first().map_or(self.now_ms, |timed| timed.at_ms);
        let mut report = format!("{}\n", line::opening(&self.options, first));
        for timed in &self.history {
            let _ = writeln!(report, "{}", line::write(timed));
        }
        format!("{report}limits {:?}\n{fault}", self.options.limits)
    }
}

fn say(who: &str, fault: Option<String>) -> Result<(), String> {
    fault.map_or(Ok(()), |fault| Err(format!("{who}: {fault}")))
}
