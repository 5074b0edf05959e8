//! Runs are added.

use proofmark_model::{Host, Measurement, Run, Verdict, format_size};
use rusqlite::{Transaction, TransactionBehavior, params};

use crate::error::{StoreError, about};
use crate::filter::micros;
use crate::{Store, schema};

impl Store {
    /// Adds a run; when this returns, it is on the disk. A run that is there already, whether it
    /// was added before or was still going on then, is brought up to date and keeps its number.
    /// `path` is that of its file. `host` is the machine's own name, if it is known: a run file
    /// does not have it. Results without a number are left out. Of equal configurations of a run
    /// the last one is kept, separately for those in trials and those sampled over time.
    ///
    /// # Errors
    /// In one line, if it cannot be written; then nothing of it is.
    pub fn add(&mut self, run: &Run, path: &str, host: Option<&str>) -> Result<i64, StoreError> {
        let at = self.path.clone();
        let failed = |e| about(&at, e);
        let tx = Transaction::new(&mut self.db, TransactionBehavior::Immediate).map_err(failed)?;
        schema::still_ours(&tx, &at)?;
        let id = insert(&tx, run, path, host).map_err(failed)?;
        tx.commit().map_err(failed)?;
        Ok(id)
    }
}

fn insert(tx: &Transaction, run: &Run, path: &str, host: Option<&str>) -> rusqlite::Result<i64> {
    let count = |v: Verdict| run.measurements.iter().filter(|m| m.verdict == v).count() as i64;
    let id: i64 = tx
        .prepare_cached(
            "INSERT INTO runs (identity, started, ended, host, machine, profile, version, path,
                               valid, suspect, invalid)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (identity) DO UPDATE SET
                 ended = excluded.ended, host = coalesce(excluded.host, host),
                 machine = excluded.machine, version = excluded.version, path = excluded.path,
                 valid = excluded.valid, suspect = excluded.suspect, invalid = excluded.invalid
             RETURNING id",
        )?
        .query_row(
            params![
                identity(run),
                micros(run.started),
                run.ended.map(micros),
                host,
                machine(&run.host),
                run.plan.profile,
                run.tool.version,
                path,
                count(Verdict::Valid),
                count(Verdict::Suspect),
                count(Verdict::Invalid),
            ],
            |row| row.get(0),
        )?;
    tx.prepare_cached("DELETE FROM numbers WHERE run = ?1")?.execute([id])?;
    for m in &run.measurements {
        let method = run.workloads.get(&m.workload).map_or(0, |spec| spec.method);
        number(tx, (id, micros(run.started)), method, m)?;
    }
    Ok(id)
}

fn number(
    tx: &Transaction,
    (run, started): (i64, i64),
    method: u32,
    m: &Measurement,
) -> rusqlite::Result<()> {
    let Some(summary) = m.summary.as_ref().filter(|s| s.median.is_finite()) else { return Ok(()) };
    let json = |e: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(Box::new(e));
    let what = params![
        m.workload,
        serde_json::to_string(&m.params).map_err(json)?,
        m.unit.as_str(),
        match m.better {
            proofmark_model::Better::Higher => "higher",
            proofmark_model::Better::Lower => "lower",
        },
        m.series.is_some(),
        method,
    ];
    tx.prepare_cached(
        "INSERT INTO measured (workload, params, unit, better, over_time, method)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
    )?
    .execute(what)?;
    let measured: i64 = tx
        .prepare_cached(
            "SELECT id FROM measured WHERE workload = ?1 AND params = ?2 AND unit = ?3 AND better = ?4
             AND over_time = ?5 AND method = ?6",
        )?
        .query_row(what, |row| row.get(0))?;
    let levels = m.series.as_ref().map(|s| s.levels.len());
    // A median over several levels is none of them; nor is its interval one of the value.
    let interval = summary.ci95.filter(|i| i.iter().all(|v| v.is_finite()));
    let [low, high] = match interval.filter(|_| levels.is_none_or(|n| n < 2)) {
        Some(interval) => interval.map(Some),
        None => [None, None],
    };
    tx.prepare_cached(
        "INSERT OR REPLACE INTO numbers
             (measured, started, run, n, median, low, high, efficiency, verdict, levels)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        measured,
        started,
        run,
        i64::try_from(summary.n).unwrap_or(i64::MAX),
        summary.median,
        low,
        high,
        m.efficiency.filter(|e| e.is_finite()),
        m.verdict.as_str(),
        levels.map(|n| i64::try_from(n).unwrap_or(i64::MAX)),
    ])?;
    Ok(())
}

/// What makes a run the same one in whatever file it comes: when it began, on what processor, and
/// what it was to measure. Only of what every version of a run file reports alike.
fn identity(run: &Run) -> String {
    let points: String = run.plan.points.iter().map(|point| format!("{point}\n")).collect();
    let cpu = run.host.cpu.model_name.get().map_or("", |name| name.as_str());
    format!("{} {} {cpu} {:016x}", run.started, run.plan.profile, fnv(points.as_bytes()))
}

/// The 64-bit hash FNV-1a (Fowler, Noll and Vo): the same in every version of this program, which
/// that of the standard library is not.
fn fnv(bytes: &[u8]) -> u64 {
    let eat = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, eat)
}

/// The machine in a few words: its processor, the CPUs that may be used, its memory.
fn machine(host: &Host) -> String {
    let cpu = host.cpu.model_name.get().map_or("unnamed CPU", |name| name.trim());
    let cpus = Some(host.limits.usable_cpus.len()).filter(|n| *n > 0);
    let cpus = cpus.map(|n| format!("{n} CPU{}", if n == 1 { "" } else { "s" }));
    let memory = host.memory.total_bytes.get().map(|bytes| format_size(rounded(*bytes)));
    [Some(cpu.to_owned()), cpus, memory].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Whole GiB, or quarters where there are few: what the kernel keeps for itself is no property of
/// the machine, and differs from one to the next, which would make another machine of it.
fn rounded(bytes: u64) -> u64 {
    const GIB: u64 = 1 << 30;
    match bytes < 4 * GIB {
        true => bytes.div_ceil(GIB / 4) * (GIB / 4),
        false => bytes.saturating_add(GIB / 2) / GIB * GIB,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_keeps_for_itself_makes_no_other_machine() {
        let reported = |kib: u64| format_size(rounded(kib * 1024));
        assert_eq!([2_014_156, 1_987_312].map(reported), ["2 GiB", "2 GiB"]);
        assert_eq!([16_375_800, 16_300_004].map(reported), ["16 GiB", "16 GiB"]);
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // Test vectors of draft-eastlake-fnv.
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
