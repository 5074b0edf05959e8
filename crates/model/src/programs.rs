//! Other programs on the machine during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Unit, clean, counted, format_percent, format_quantity};

/// Resources that the processes of one name used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Name, as the system shortens it.
    pub name: String,
    /// CPU time in CPU-seconds. Time of a child that ended between two looks counts for the program
    /// that started it.
    pub cpu_s: f64,
    /// CPU time as a share of that of one CPU.
    pub of_one_cpu: f64,
    /// Bytes per second that they had devices read and write; 0 where this user may not see it.
    #[serde(default)]
    pub io_bytes_per_s: f64,
}

impl Program {
    /// The name of all threads of Linux itself.
    pub const KERNEL_THREADS: &'static str = "kernel threads";
    /// Minimum bytes per second for a program to be named.
    pub const MIN_BYTES_PER_S: f64 = 1e6;

    /// The name of other runs of this program.
    const OWN: &'static str = "proofmark";

    /// True if the name is one that every machine has, so that it identifies nobody.
    pub fn is_everywhere(&self) -> bool {
        [Self::KERNEL_THREADS, Self::OWN].contains(&self.name.as_str())
    }

    /// True if stopping it would change a result: kernel threads cannot be stopped, and a waiting
    /// proofmark takes little.
    fn can_be_stopped(&self) -> bool {
        let little = self.name == Self::OWN && self.of_one_cpu < OtherPrograms::MUCH;
        self.name != Self::KERNEL_THREADS && !little
    }
}

/// The other programs of a run, or of another span of time.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherPrograms<'a> {
    /// Those with most CPU time or I/O, most CPU time first.
    pub named: &'a [Program],
    /// CPU time of all programs, as a share of that of one CPU; `None` where it is unknown.
    pub all_of_one_cpu: Option<f64>,
}

impl OtherPrograms<'_> {
    /// Share of one CPU from which programs may explain what a run lost.
    pub const MUCH: f64 = 0.05;
    /// Minimum share of one CPU for a program to be named.
    const MIN_CPU_SHARE: f64 = 0.01;
    /// Maximum number of programs that a finding names.
    const NAMED: usize = 3;
    /// The programs that are in the account of all, but not named.
    const NOT_NAMED: &'static str = "ended meanwhile, smaller, or of other containers";

    /// Names the first of these programs and their shares of one CPU, then the shares of the others and
    /// of those that have no name: `rustc 108.6 %, cargo 5.6 %`. `None` if none used 1 %.
    pub fn words(self, most: usize) -> Option<String> {
        self.listed(most, |_| true)
    }

    /// Names the programs that used most among those that can be stopped, for findings.
    pub fn to_stop(self) -> Option<String> {
        self.listed(Self::NAMED, Program::can_be_stopped)
    }

    fn listed(self, most: usize, may: impl Fn(&Program) -> bool) -> Option<String> {
        let known: Vec<&Program> = self.named.iter().filter(|p| p.of_one_cpu.is_finite()).collect();
        let is_shown = |p: &&&Program| may(p) && p.of_one_cpu >= Self::MIN_CPU_SHARE;
        let all: Vec<&Program> = known.iter().filter(is_shown).copied().collect();
        let (shown, others) = all.split_at(most.min(all.len()));
        let sum = |of: &[&Program]| of.iter().map(|p| p.of_one_cpu).sum::<f64>();
        let share = |p: &&Program| format!("{} {}", clean(&p.name), format_percent(p.of_one_cpu));
        let mut parts: Vec<String> = shown.iter().map(share).collect();
        if !others.is_empty() {
            let count = counted(others.len() as u64, "other");
            parts.push(format!("{count} {}", format_percent(sum(others))));
        }
        let rest = self.all_of_one_cpu.map(|all| all - sum(&known));
        if let Some(rest) = rest.filter(|rest| *rest >= Self::MUCH) {
            parts.push(format!("not named {} ({})", format_percent(rest), Self::NOT_NAMED));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// True if a program took so much of a CPU that it may explain what a run lost, or if all of
    /// them together did.
    pub fn took_much(self) -> bool {
        let (can, cannot): (Vec<&Program>, Vec<&Program>) =
            self.named.iter().partition(|p| p.can_be_stopped());
        // Kernel threads work for the programs and the load itself, and compete with neither.
        let cannot: f64 = cannot.into_iter().map(|p| p.of_one_cpu).filter(|s| s.is_finite()).sum();
        let rest = self.all_of_one_cpu.map(|all| all - cannot);
        can.into_iter().map(|p| p.of_one_cpu).chain(rest).any(|share| share >= Self::MUCH)
    }

    /// Names the programs that moved most: `dd 1.200 GB/s, rsync 30.00 MB/s, each with what it
    /// started`; `None` if none moved 1 MB/s.
    pub fn disk_users(self) -> Option<String> {
        let moved = self.named.iter().filter(|p| p.io_bytes_per_s >= Program::MIN_BYTES_PER_S);
        let mut users: Vec<&Program> = moved.collect();
        users.sort_by(|a, b| b.io_bytes_per_s.total_cmp(&a.io_bytes_per_s));
        let rate = |p: &&Program| format_quantity(p.io_bytes_per_s, Unit::BytePerSecond);
        let named =
            users.iter().take(Self::NAMED).map(|p| format!("{} {}", clean(&p.name), rate(p)));
        let named: Vec<String> = named.collect();
        // The system counts the I/O of a child that ended for its parent.
        let each = if named.len() > 1 { "each with" } else { "with" };
        (!named.is_empty()).then(|| format!("{}, {each} what it started", named.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program((name, of_one_cpu): (&str, f64)) -> Program {
        Program { name: name.into(), cpu_s: 1.0, of_one_cpu, io_bytes_per_s: 0.0 }
    }

    #[test]
    fn what_no_name_explains_is_said() {
        let words = |named: &[(&str, f64)], all: Option<f64>| {
            let named: Vec<Program> = named.iter().copied().map(program).collect();
            let others = OtherPrograms { named: &named, all_of_one_cpu: all };
            [others.words(3), others.to_stop()].map(Option::unwrap_or_default)
        };
        let not_named = |share: &str| format!("not named {share} ({})", OtherPrograms::NOT_NAMED);
        let both = |text: &str| [text.to_owned(), text.to_owned()];
        // Counted programs explain it, within the account's error.
        assert_eq!(words(&[("cc", 0.5)], Some(0.53)), both("cc 50.0 %"));
        assert_eq!(words(&[("cc", 0.5)], None), both("cc 50.0 %"));
        let rest = format!("cc 2.0 %, {}", not_named("68.0 %"));
        assert_eq!(words(&[("cc", 0.02)], Some(0.7)), both(&rest));
        assert_eq!(words(&[], Some(1.5)), both(&not_named("150.0 %")));
        assert_eq!(words(&[("cc", 0.009)], Some(0.04)), both(""));
        // Named programs beyond the most are others, not unnamed ones.
        let five = [("a", 0.5), ("b", 0.4), ("c", 0.3), ("d", 0.2), ("e", 0.1), ("f", 0.001)];
        let others = "a 50.0 %, b 40.0 %, c 30.0 %, 2 others 30.0 %";
        assert_eq!(words(&five, Some(1.52)), both(others));
        let rest = format!("{others}, {}", not_named("49.9 %"));
        assert_eq!(words(&five, Some(2.0)), both(&rest));
        // Nobody can stop kernel threads, and another proofmark that waits takes nothing.
        let named = [("kernel threads", 0.101), ("cc", 0.019), ("proofmark", 0.014)];
        let [all, to_stop] = words(&named, Some(0.15));
        assert_eq!(all, "kernel threads 10.1 %, cc 1.9 %, proofmark 1.4 %");
        assert_eq!(to_stop, "cc 1.9 %");
        assert_eq!(words(&[("proofmark", 0.6)], None)[1], "proofmark 60.0 %");
    }

    #[test]
    fn only_programs_that_took_much_explain_a_loss() {
        let much = |named: &[(&str, f64)], all| {
            let named: Vec<Program> = named.iter().copied().map(program).collect();
            OtherPrograms { named: &named, all_of_one_cpu: all }.took_much()
        };
        assert!(much(&[("cc", 0.06)], None) && much(&[("cc", 0.01)], Some(0.3)));
        let of_kernel = [("kernel threads", 0.3), ("cc", 0.03)];
        assert!(!much(&of_kernel, None) && !much(&[], None));
        assert!(!much(&of_kernel, Some(0.34)), "kernel threads are no program that competes");
        assert!(much(&of_kernel, Some(0.4)), "others took 10 %, of which 3 % is named");
    }
}
