//! Queries of runs and points.

use proofmark_model::{Params, PastPoint, PastRun, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Error, OptionalExtension as _, Row, params};
use serde::de::DeserializeOwned;

use crate::Store;
use crate::error::{StoreError, translate_error};
use crate::filter::Filter;
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
        let sql = "SELECT id, started, host, run FROM runs
             WHERE started >= ?1 AND (?2 IS NULL OR host = ?2) AND (?3 IS NULL OR profile = ?3)
               AND (?4 IS NULL OR id IN (SELECT run FROM numbers WHERE measured IN
                                         (SELECT value FROM json_each(?4))))
             ORDER BY started DESC, id DESC LIMIT ?5";
        let asked =
            params![filter.earliest(), filter.host, filter.profile, measured, filter.limit()];
        let mut runs = self.query(sql, asked, past_run)?;
        runs.reverse();
        Ok(runs)
    }

    /// Returns the run with this number; `None` if there is none.
    pub fn run(&self, id: i64) -> Result<Option<PastRun>, StoreError> {
        let sql = "SELECT id, started, host, run FROM runs WHERE id = ?1";
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
        let sql = "SELECT n.run, n.started, r.host, r.run ->> '$.machine', n.number
                   FROM numbers n CROSS JOIN runs r ON r.id = n.run
                   WHERE n.measured = ?1 AND n.started >= ?2
                     AND (?3 IS NULL OR r.host = ?3) AND (?4 IS NULL OR r.profile = ?4)
                   ORDER BY n.started DESC, n.run DESC LIMIT ?5";
        let asked = params![id, filter.earliest(), filter.host, filter.profile, filter.limit()];
        self.query(sql, asked, |row| {
            let number: Number = json(row, 4)?;
            Ok(PastPoint {
                run: row.get(0)?,
                started: moment(row, 1)?,
                host: row.get(2)?,
                machine: row.get(3)?,
                workload: workload.to_owned(),
                method: measured.method,
                params: measured.params.clone(),
                unit: measured.unit,
                better: measured.better,
                over_time: measured.over_time,
                n: number.n,
                headline: number.headline,
                value: number.value,
                ci95: number.ci95,
                attainable: number.attainable,
                delivered: number.delivered,
                levels: number.levels,
                efficiency: number.efficiency,
                verdict: number.verdict,
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

fn past_run(row: &Row) -> rusqlite::Result<PastRun> {
    let kept: PastRun = json(row, 3)?;
    Ok(PastRun { id: row.get(0)?, started: moment(row, 1)?, host: row.get(2)?, ..kept })
}

fn json<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|e| Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}

fn moment(row: &Row, column: usize) -> rusqlite::Result<Timestamp> {
    let micros: i64 = row.get(column)?;
    let at = jiff::Timestamp::from_microsecond(micros);
    at.map(Timestamp).map_err(|_| Error::IntegralValueOutOfRange(column, micros))
}
