//! Queries of runs and points.

use proofmark_model::{Params, PastPoint, PastRun};
use rusqlite::types::Type;
use rusqlite::{Error, OptionalExtension as _, Row, params};
use serde::de::DeserializeOwned;

use crate::Store;
use crate::error::{StoreError, translate_error};
use crate::filter::{Filter, micros};
use crate::schema::{Measured, Number};

impl Store {
    /// Returns past runs, the oldest first.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<PastRun>, StoreError> {
        let measured = match &filter.workload {
            None => None,
            Some(workload) => {
                let all = self.measured(workload, filter)?;
                Some(format!("{:?}", all.iter().map(|(id, _)| *id).collect::<Vec<_>>()))
            }
        };
        let sql = "SELECT id, started, host, label, run FROM runs
             WHERE started >= ?1 AND (?2 IS NULL OR host = ?2) AND (?3 IS NULL OR label = ?3)
               AND (?4 IS NULL OR profile = ?4)
               AND (?5 IS NULL OR id IN (SELECT run FROM numbers WHERE measured IN
                                         (SELECT value FROM json_each(?5))))
             ORDER BY started DESC, id DESC LIMIT ?6";
        let Filter { host, label, profile, .. } = filter;
        let asked = params![filter.earliest(), host, label, profile, measured, filter.limit()];
        let mut runs = self.query(sql, asked, past_run)?;
        runs.reverse();
        Ok(runs)
    }

    /// Returns the run with this number; `None` if there is none.
    pub fn run(&self, id: i64) -> Result<Option<PastRun>, StoreError> {
        let sql = "SELECT id, started, host, label, run FROM runs WHERE id = ?1";
        self.db.query_row(sql, [id], past_run).optional().map_err(|e| self.failed(e))
    }

    /// Returns the measured workloads, sorted.
    pub fn workloads(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT workload FROM measured ORDER BY workload";
        self.query(sql, [], |row| row.get(0))
    }

    /// Returns every set of parameters that a workload was measured with.
    pub fn params(&self, workload: &str) -> Result<Vec<Params>, StoreError> {
        let all = self.measured(workload, &Filter::default())?;
        Ok(all.into_iter().map(|(_, m)| m.params).collect())
    }

    /// Returns results of past runs by point, the oldest first. `filter.workload` must be set, else
    /// there are none. `filter.last` applies to each point.
    pub fn points(&self, filter: &Filter) -> Result<Vec<PastPoint>, StoreError> {
        let Some(workload) = &filter.workload else { return Ok(Vec::new()) };
        let mut points = Vec::new();
        for (id, measured) in self.measured(workload, filter)? {
            let newest_first = self.numbers(workload, id, &measured, filter)?;
            points.extend(newest_first.into_iter().rev());
        }
        Ok(points)
    }

    /// Returns the selected configurations of a workload with their numbers, sorted by parameters.
    /// Of equal ones, trials come before samples over time.
    fn measured(
        &self,
        workload: &str,
        filter: &Filter,
    ) -> Result<Vec<(i64, Measured)>, StoreError> {
        let sql = "SELECT id, what FROM measured WHERE workload = ?1";
        let mut all: Vec<(i64, Measured)> =
            self.query(sql, [workload], |row| Ok((row.get(0)?, json(row, 1)?)))?;
        all.retain(|(_, m)| filter.matches(&m.params));
        all.sort_by(|(a_id, a), (b_id, b)| {
            (&a.params, a.over_time, a.method, a_id).cmp(&(&b.params, b.over_time, b.method, b_id))
        });
        Ok(all)
    }

    fn numbers(
        &self,
        workload: &str,
        id: i64,
        measured: &Measured,
        filter: &Filter,
    ) -> Result<Vec<PastPoint>, StoreError> {
        // In the order of the table's key, so that only the last rows are read.
        let sql = "SELECT n.run, n.started, r.host, r.label, r.run, n.number
                   FROM numbers n CROSS JOIN runs r ON r.id = n.run
                   WHERE n.measured = ?1 AND n.started >= ?2
                     AND (?3 IS NULL OR r.host = ?3) AND (?4 IS NULL OR r.label = ?4)
                     AND (?5 IS NULL OR r.profile = ?5)
                   ORDER BY n.started DESC, n.run DESC LIMIT ?6";
        let Filter { host, label, profile, .. } = filter;
        let asked = params![id, filter.earliest(), host, label, profile, filter.limit()];
        self.query(sql, asked, |row| {
            let mut run = past_run(row)?;
            let number: Number = json(row, 5)?;
            run.missing.extend(number.missing.map(|why| ("value".to_owned(), why)));
            Ok(PastPoint {
                run: run.id,
                started: run.started,
                host: run.host,
                label: run.label,
                machine: run.machine,
                workload: workload.to_owned(),
                method_version: measured.method,
                params: measured.params.clone(),
                unit: measured.unit,
                better: measured.better,
                over_time: measured.over_time,
                trials: number.n,
                headline: number.headline,
                value: number.value,
                ci95: number.ci95,
                attainable: number.attainable,
                delivered: number.delivered,
                levels: number.levels,
                efficiency: number.efficiency,
                reliance: number.reliance,
                verdict: number.verdict,
                missing: run.missing,
            })
        })
    }

    /// Returns all rows of a query.
    fn query<T>(
        &self,
        sql: &str,
        asked: impl rusqlite::Params,
        row: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let read = || -> rusqlite::Result<Vec<T>> {
            self.db.prepare_cached(sql)?.query_map(asked, row)?.collect()
        };
        read().map_err(|e| self.failed(e))
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        translate_error(&self.path, error)
    }
}

/// Reads a run from the columns `id`, `started`, `host`, `label` and `run`.
fn past_run(row: &Row) -> rusqlite::Result<PastRun> {
    let mut run: PastRun = json(row, 4)?;
    (run.id, run.host, run.label) = (row.get(0)?, row.get(2)?, row.get(3)?);
    // A name once known stays, also if the run is added again without it.
    let PastRun { host, label, missing, .. } = &mut run;
    missing.retain(|field, _| match field.as_str() {
        "host" => host.is_none(),
        "label" => label.is_none(),
        _ => true,
    });
    // The column holds whole microseconds, the run more digits.
    match row.get(1)? {
        at if at == micros(run.started) => Ok(run),
        other => Err(Error::IntegralValueOutOfRange(1, other)),
    }
}

fn json<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|e| Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}
