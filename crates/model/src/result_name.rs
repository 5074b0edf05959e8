//! The configuration of a result in words: the same in every table, list and finding.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    AUTO, Measurement, NetworkPath, Param, ParameterKind, Params, PickedValue, Quantity, Run, Unit,
    WorkloadSpec, clean, counted, format_count, format_size, io_path, key, word,
};

/// Parameters that the words of [`io_path`] include.
const IN_IO_PATH: [&str; 3] = [key::DIRECT.name(), key::CACHE.name(), key::FLUSH.name()];

/// Amounts of work, which name a result only if they differ; a size also if it is not the default,
/// since the rate depends on it.
const AMOUNTS: [&str; 2] = [key::ITERATIONS.name(), key::MATRIX_SIZE.name()];

/// Names the results of one workload.
///
/// A name has the number of CPUs, threads or streams, the parameters that the workload's main rows
/// choose, those that are not at their default, and those in which the results differ.
#[derive(Debug)]
pub struct ResultNames<'a> {
    spec: Option<&'a WorkloadSpec>,
    /// Parameters in which the results differ.
    varying: BTreeSet<&'a str>,
    /// Those that only some of the results have.
    partial: BTreeSet<&'a str>,
    /// The largest value of each number.
    largest: BTreeMap<&'a str, u64>,
    /// True if some results differ only in the I/O engine.
    only_in_engine: bool,
    /// Number of usable CPUs; 0 if it is unknown.
    cpus: u64,
}

impl<'a> ResultNames<'a> {
    /// The names of a workload's results in a run.
    pub fn of_run(run: &'a Run, workload: &str) -> Self {
        let all = run.measurements.iter().filter(|m| m.workload == workload).map(|m| &m.params);
        let cpus = run.host.limits.usable_cpus.len() as u64;
        Self::new(run.workloads.get(workload), all, cpus)
    }

    /// The names of results with these parameters on a machine with that many usable CPUs; 0 if the
    /// number is unknown.
    pub fn new(
        spec: Option<&'a WorkloadSpec>,
        all: impl IntoIterator<Item = &'a Params>,
        cpus: u64,
    ) -> Self {
        let all: BTreeSet<&Params> = all.into_iter().collect();
        let names: BTreeSet<&str> =
            all.iter().flat_map(|p| p.0.keys()).map(String::as_str).collect();
        let differs = |name: &&str| {
            let mut values = all.iter().map(|p| p.named(name));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        let is_partial = |name: &&str| all.iter().any(|p| p.named(name).is_none());
        let partial: BTreeSet<&str> = names.iter().copied().filter(is_partial).collect();
        let mut largest: BTreeMap<&str, u64> = BTreeMap::new();
        for name in &names {
            for n in all.iter().filter_map(|p| p.number(name)) {
                let most = largest.entry(name).or_default();
                *most = n.max(*most);
            }
        }
        let varying: BTreeSet<&str> = names.into_iter().filter(differs).collect();
        let engine = key::ENGINE.name();
        let only_in_engine = varying.contains(engine) && {
            let rest = |p: &&Params| {
                let mut rest = (*p).clone();
                rest.0.remove(engine);
                rest
            };
            all.iter().map(rest).collect::<BTreeSet<Params>>().len() < all.len()
        };
        Self { spec, varying, partial, largest, only_in_engine, cpus }
    }

    /// The title of one of the results: `FP peak, 2 CPUs, avx2`.
    pub fn title(&self, m: &Measurement) -> String {
        let title = self.spec.map(|spec| clean(&spec.title)).filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| clean(&m.workload));
        let parts = [title, self.configuration(m)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// The configuration of one of the results: `2 CPUs, avx512`; `4 KiB, depth 32`. Empty where a
    /// workload has neither threads nor a choice.
    pub fn configuration(&self, m: &Measurement) -> String {
        let mut sizes = 0;
        let mut words: Vec<String> = Vec::new();
        for name in self.order(m).into_iter().filter(|name| self.is_named(m, name)) {
            let Some(value) = m.params.named(name) else { continue };
            let size = self.is_size(name) && matches!(value, Param::Int(_));
            // The first size needs no noun.
            words.extend(self.word(m, name, value, size && sizes == 0));
            sizes += usize::from(size);
        }
        let usual = |way: &String| way == "direct" || way == "direct, flush included";
        words.extend(io_path(m).filter(|way| !usual(way)));
        words.join(", ")
    }

    /// The parameters of a result in the order of the words: what the main rows choose, in front of
    /// the others as declared.
    fn order<'m>(&'m self, m: &'m Measurement) -> Vec<&'m str> {
        let picked = self.picks().map(|(name, _)| name);
        let device = [key::BLOCK_SIZE.name(), key::QUEUE_DEPTH.name()];
        let first = match () {
            () if is_disk(m) => &device[..],
            () if has_server(m) => &[key::PATH.name()],
            () => &[],
        };
        let threads = Params::THREADS.map(|key| key.name());
        let axis = self.spec.and_then(|s| s.axis.as_deref());
        let declared = self.spec.map_or(&[][..], |s| &s.parameters).iter().map(|p| &*p.name);
        let present = m.params.0.keys().map(String::as_str);
        let picked = picked.filter(|_| !is_disk(m));
        let all = first.iter().copied().chain(picked).chain(threads).chain(axis);
        let mut seen = BTreeSet::new();
        all.chain(declared).chain(present).filter(|name| seen.insert(*name)).collect()
    }

    /// The parameters that the main rows choose, each with its first choice.
    fn picks(&self) -> impl Iterator<Item = (&str, &PickedValue)> {
        let rows = self.spec.map_or(&[][..], |s| &s.role.main_rows);
        rows.iter().flat_map(|row| row.picks.iter()).map(|pick| (&*pick.parameter, &pick.value))
    }

    fn is_named(&self, m: &Measurement, name: &str) -> bool {
        const ENGINE: &str = key::ENGINE.name();
        const PATH: &str = key::PATH.name();
        const MODE: &str = key::MODE.name();
        const SIZE: &str = key::MATRIX_SIZE.name();
        const ALWAYS: [&str; 3] =
            [key::BLOCK_SIZE.name(), key::QUEUE_DEPTH.name(), key::METHOD.name()];
        let varies = self.varying.contains(name);
        match name {
            _ if Params::counts_threads(name) => !is_disk(m) || m.params.threads() > 1,
            // A rate over loopback must not be taken for that of a network.
            PATH => m.params.word(name) == Some(NetworkPath::Loopback.as_str()),
            ENGINE => self.only_in_engine,
            SIZE if !varies => self.is_unusual(m, name),
            _ if AMOUNTS.contains(&name) => varies,
            _ if is_disk(m) && IN_IO_PATH.contains(&name) => false,
            _ if is_disk(m) && ALWAYS.contains(&name) => true,
            MODE if is_disk(m) => m.params.word(name) != Some(word::APPEND),
            _ => self.is_chosen(m, name, varies),
        }
    }

    /// Returns true if the workload's title does not imply the value.
    fn is_chosen(&self, m: &Measurement, name: &str, varies: bool) -> bool {
        let value = m.params.named(name).map(ToString::to_string);
        let is_axis = self.spec.and_then(|s| s.axis.as_deref()) == Some(name);
        let (mut has_rows, mut picked) = (false, None);
        for (parameter, pick) in self.picks() {
            has_rows = true;
            picked = picked.or(Some(pick).filter(|_| parameter == name));
        }
        let is_largest = m.params.number(name) == self.largest.get(name).copied();
        match picked {
            Some(PickedValue::Is(wanted)) if !is_disk(m) => value.is_some_and(|v| v != *wanted),
            Some(PickedValue::UsableCpus | PickedValue::Smallest) => true,
            // A series is of one configuration, so nothing else names its instruction set.
            Some(PickedValue::Best) if m.series.is_some() => true,
            Some(PickedValue::Largest) if is_disk(m) => !is_largest,
            Some(PickedValue::Best | PickedValue::Largest) => varies || is_axis,
            _ if is_axis && !has_rows => true,
            Some(PickedValue::Is(_)) | None => match self.default(name) {
                Some(_) if self.partial.contains(name) => true,
                Some(_) => self.is_unusual(m, name),
                None => varies,
            },
        }
    }

    /// The value that a parameter has unless another is asked for; `None` where it depends on the
    /// machine.
    fn default(&self, name: &str) -> Option<&str> {
        let default = self.spec.and_then(|s| s.parameter(name)).map(|p| &*p.default);
        default.filter(|d| ![AUTO, ""].contains(d))
    }

    /// Returns true if the value is known not to be the default.
    fn is_unusual(&self, m: &Measurement, name: &str) -> bool {
        let value = m.params.named(name).map(ToString::to_string);
        self.default(name).zip(value).is_some_and(|(default, value)| value != default)
    }

    fn is_size(&self, name: &str) -> bool {
        let kind = self.spec.and_then(|s| s.parameter(name)).map(|p| &p.kind);
        matches!(kind, Some(ParameterKind::Size { .. }))
    }

    /// One parameter in words; `None` for a value that is not a choice of the user.
    fn word(&self, m: &Measurement, name: &str, value: &Param, bare: bool) -> Option<String> {
        let noun = clean(name).replace('_', " ");
        let singular = noun.strip_suffix('s').map(str::to_owned);
        Some(match value {
            Param::Text(word) if word == AUTO => return None,
            Param::Text(word) => text(m, name, (&noun, singular.is_some()), &clean(word)),
            Param::Int(n) if key::THREADS == name && !is_disk(m) && self.has_cpus(*n) => {
                counted(*n, "CPU")
            }
            Param::Int(n) if key::QUEUE_DEPTH == name => format!("depth {n}"),
            Param::Int(n) if key::READS == name => format!("{n} % reads"),
            Param::Int(n) if key::RATE == name && has_server(m) => {
                let rate = *n as f64;
                let scale = Quantity::suited(rate, Unit::BitPerSecond);
                format!("{} {} offered", scale.chosen(rate), scale.label)
            }
            Param::Int(n) if bare => format_size(*n),
            Param::Int(n) if self.is_size(name) => format!("{noun} {}", format_size(*n)),
            Param::Int(n) => match singular {
                Some(one) => counted(*n, &one),
                None => format!("{noun} {}", format_count(*n)),
            },
            other => format!("{noun} {}", clean(&other.to_string())),
        })
    }

    fn has_cpus(&self, threads: u64) -> bool {
        self.cpus == 0 || threads <= self.cpus
    }
}

/// A word that a parameter has as its value.
fn text(m: &Measurement, name: &str, (noun, is_plural): (&str, bool), word: &str) -> String {
    const MODE: &str = key::MODE.name();
    const PLACEMENT: &str = key::PLACEMENT.name();
    const DIRECTION: &str = key::DIRECTION.name();
    match (name, word) {
        (MODE, word::BLOCK) if has_server(m) => "blocking".to_owned(),
        (MODE, word::POLL) if has_server(m) => "polling".to_owned(),
        (PLACEMENT, word::APART) if has_server(m) => "threads pinned apart".to_owned(),
        (PLACEMENT, word::FREE) if has_server(m) => "threads not pinned".to_owned(),
        (DIRECTION, "both") if has_server(m) => "both ways".to_owned(),
        // A number, or a switch, says nothing without its name.
        (_, word::ON | word::OFF) => format!("{noun} {word}"),
        _ if word.starts_with(|c: char| c.is_ascii_digit()) => format!("{noun} {word}"),
        _ if is_plural => format!("{word} {noun}"),
        _ => word.to_owned(),
    }
}

fn is_disk(m: &Measurement) -> bool {
    m.subsystem.info().uses_block_devices
}

fn has_server(m: &Measurement) -> bool {
    m.subsystem.info().has_server
}
