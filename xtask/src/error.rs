//! A step that cannot work: its name, the reason, and the command that does it by hand.

use std::fmt;

/// The error of a set-up or build step.
#[derive(Debug)]
pub struct StepFailed {
    /// What was being done, to what.
    pub step: String,
    /// Why it failed; may end with the last lines of a tool's output.
    pub reason: String,
    /// Commands that a person can run instead.
    pub by_hand: Vec<String>,
}

impl StepFailed {
    /// An error without a manual command yet.
    pub fn new(step: impl Into<String>, reason: impl fmt::Display) -> Self {
        StepFailed { step: step.into(), reason: reason.to_string(), by_hand: Vec::new() }
    }

    /// Adds a command that a person can run instead.
    pub fn by_hand(mut self, command: impl Into<String>) -> Self {
        self.by_hand.push(command.into());
        self
    }
}

impl fmt::Display for StepFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step `{}` failed: {}", self.step, self.reason)?;
        for command in &self.by_hand {
            write!(f, "\n  by hand: {command}")?;
        }
        Ok(())
    }
}

impl std::error::Error for StepFailed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_step_reason_and_manual_command() {
        let error = StepFailed::new("install rustc-web", "no network").by_hand("sudo apt-get install rustc-web");
        assert_eq!(
            error.to_string(),
            "step `install rustc-web` failed: no network\n  by hand: sudo apt-get install rustc-web"
        );
    }
}
