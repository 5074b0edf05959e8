//! Addition of runs.

use std::collections::BTreeMap;

use proofmark_model::{Ceiling, Figure, FigureKind, Measurement, PastFigure, PastRun, Run, fnv1a};
use rusqlite::{Transaction, TransactionBehavior, params};
use serde::Serialize;

use crate::Store;
use crate::error::{StoreError, translate_error};
use crate::filter::micros;
use crate::schema::{Measured, Number, State, state};

impl Store {
    /// Adds a run and syncs it to the disk.
    ///
    /// A known run is updated and keeps its number, even if it was unfinished before. `path` is
    /// that of its file. Results without trials are left out. Of equal configurations the last is
    /// kept, separately for trials and for samples over time. After an error nothing of the run is
    /// stored.
    pub fn add(&mut self, run: &Run, path: &str) -> Result<i64, StoreError> {
        if let Some(why) = &self.unwritable {
            return Err(why.clone());
        }
        let at = self.path.clone();
        let failed = |e| translate_error(&at, e);
        let tx = Transaction::new(&mut self.db, TransactionBehavior::Immediate).map_err(failed)?;
        // Another process may have changed it since it was opened.
        if state(&tx, &at)? != State::Ready {
            return Err(StoreError::replaced(&at));
        }
        let id = insert(&tx, run, path).map_err(failed)?;
        tx.commit().map_err(failed)?;
        Ok(id)
    }
}

fn insert(tx: &Transaction, run: &Run, path: &str) -> rusqlite::Result<i64> {
    let host = &run.host.os.host_name;
    let why = || ("host".to_owned(), host.origin().to_owned());
    let missing: BTreeMap<_, _> = host.get().is_none().then(why).into_iter().collect();
    let past = PastRun {
        id: 0, // The table numbers it.
        started: run.started,
        ended: run.ended,
        host: None,  // A column: one once known stays.
        label: None, // A column, to select by it.
        machine: run.host.same_machine_words(),
        kernel: run.host.os.kernel.get().cloned(),
        profile: run.plan.profile.clone(),
        version: run.tool.version.clone(),
        path: path.to_owned(),
        verdicts: run.measurements.iter().map(|m| m.verdict).collect(),
        missing,
    };
    let started = micros(run.started);
    let id: i64 = tx
        .prepare_cached(
            "INSERT INTO runs (identity, started, host, label, profile, run)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (identity) DO UPDATE SET
                 host = coalesce(excluded.host, host), label = excluded.label, run = excluded.run
             RETURNING id",
        )?
        .query_row(
            params![identity(run), started, host.get(), run.label, past.profile, json(&past)?],
            |row| row.get(0),
        )?;
    tx.prepare_cached("DELETE FROM numbers WHERE run = ?1")?.execute([id])?;
    for m in &run.measurements {
        let Some(number) = number(m) else { continue };
        let method = run.workloads.get(&m.workload).map_or(0, |spec| spec.method);
        let measured = measured(tx, method, m)?;
        tx.prepare_cached("INSERT OR REPLACE INTO numbers VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![measured, started, id, json(&number)?])?;
    }
    Ok(id)
}

/// Returns the stored values of a result; `None` if it has no trials.
fn number(m: &Measurement) -> Option<Number> {
    let summary = m.summary.as_ref()?;
    let value = Some(summary.value()).filter(|v| v.is_finite());
    let why = || summary.figure(summary.headline).missing.clone();
    let missing =
        value.is_none().then(|| why().unwrap_or_else(|| "not a finite number".to_owned()));
    let levels = m.series.as_ref().map(|s| s.levels.len() as u64);
    // A median over several levels is at none of them, and its interval does not describe it.
    let one_level = levels.is_none_or(|n| n < 2);
    let interval = |ci95: Option<[f64; 2]>| {
        ci95.filter(|ends| one_level && ends.iter().all(|v| v.is_finite()))
    };
    let figure = |kind| {
        let Figure { value, ci95, .. } = summary.figure(kind);
        let value = value.filter(|v| v.is_finite())?;
        Some(PastFigure { value, ci95: interval(*ci95) })
    };
    Some(Number {
        n: summary.trials.n,
        headline: summary.headline,
        value,
        missing,
        ci95: interval(summary.ci95()),
        attainable: figure(FigureKind::Attainable),
        delivered: figure(FigureKind::Delivered),
        levels,
        efficiency: m.efficiency.filter(|e| e.is_finite()),
        reliance: m.ceiling.as_ref().map(Ceiling::reliance).unwrap_or_default(),
        verdict: m.verdict,
    })
}

/// Returns the row of a configuration, and inserts it if it is new.
fn measured(tx: &Transaction, method: u32, m: &Measurement) -> rusqlite::Result<i64> {
    let what = Measured {
        params: m.params.clone(),
        unit: m.unit,
        better: m.better,
        over_time: m.series.is_some(),
        method,
    };
    let row = params![m.workload, json(&what)?];
    tx.prepare_cached(
        "INSERT INTO measured (workload, what) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute(row)?;
    tx.prepare_cached("SELECT id FROM measured WHERE workload = ?1 AND what = ?2")?
        .query_row(row, |row| row.get(0))
}

fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

/// Returns the identity of a run, from fields that all versions of a run file have in common.
fn identity(run: &Run) -> String {
    let points: String = run.plan.points.iter().map(|point| format!("{point}\n")).collect();
    let cpu = run.host.cpu.model_name.get().map_or("", |name| name.as_str());
    format!("{} {} {cpu} {:016x}", run.started, run.plan.profile, fnv1a(points.bytes()))
}
