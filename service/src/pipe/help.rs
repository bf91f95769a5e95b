//! What `leasebook table --help` says beside its arguments.

use super::lines::LINE_BYTES_MAX;
use crate::book::{COMMON, OPERATIONS};
use crate::exit::Exit;

/// What somebody sees who starts the command without a pipe.
pub const ON_A_TERMINAL: &str = r#"One operation a line, as JSON; Ctrl-D ends, `leasebook table --help` lists them. For example:
{"op":"acquire","holder":"me","paths":["/srv/src"]}"#;

const EXAMPLES: &str = r#"Examples:
  A book that lasts as long as the pipe:
    leasebook table <<'END'
    {"op":"acquire","holder":"writer-1","paths":["/srv/src"]}
    {"op":"acquire","holder":"reviewer-1","paths":["/srv/src/app.rs"]}
    END
  Time of your own, and waiters in a queue:
    echo '{"op":"acquire","at-ms":1000,"holder":"a","paths":["/a"],"ttl-ms":30000}' |
      leasebook table --fairness fifo
  Only the sentence of each refusal:
    leasebook table < operations.jsonl | jq -r '.sentence // empty'
"#;

/// For `-h`.
pub fn short() -> String {
    format!("{EXAMPLES}\n`--help` lists the operations.\n\n{}", Exit::help())
}

/// For `--help`.
pub fn long() -> String {
    let operations: String = OPERATIONS
        .iter()
        .map(|(name, fields)| format!("  {name:<14}  {}", fields.join(", ")).trim_end().to_owned() + "\n")
        .collect();
    let common = COMMON.join(", ");
    format!(
        "{EXAMPLES}
Each line is one JSON object, and is answered with one JSON object on one line. A refusal is an answer.
A bad line is answered with {{\"error\":{{\"line\":…,\"field\":…,\"reason\":…}}}}, and the book goes on.

Operations, with their fields beside {common}:
{operations}
  at-ms            the moment, in milliseconds: on every line, or on none. Where absent, the clock of the
                   machine, which counts on while it sleeps. An earlier moment counts as the latest seen.
  paths, modes     \"exclusive\" (where absent) or \"shared\", one mode for each path
  ttl-ms, keep-ms  any number; an unusable one is refused by the table. Absent: the default; for ever.
  release          by paths, or by generation, or everything where neither is given
  new, restore     begin the book again, empty or from records
  answer           ignored, so that recorded runs can be read as they are
  A line has at most {LINE_BYTES_MAX} bytes.

{}",
        Exit::help()
    )
}
