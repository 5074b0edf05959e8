//! Runs and points are read.

use proofmark_model::{Better, Params, PastPoint, PastRun, Timestamp, Unit};
use rusqlite::{OptionalExtension as _, Row, params};
use serde::de::DeserializeOwned;

use crate::Store;
use crate::error::{StoreError, about};
use crate::filter::Filter;

/// What is read of a run, in the order of [`past_run`].
const RUN: &str =
    "id, started, ended, host, machine, profile, version, path, valid, suspect, invalid";

/// What a point is: the part of a measurement that stays the same from run to run.
struct Measured {
    id: i64,
    workload: String,
    params: Params,
    unit: Unit,
    better: Better,
    over_time: bool,
    method: u32,
}

impl Store {
    /// Past runs, oldest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<PastRun>, StoreError> {
        let measured = match &filter.workload {
            None => None,
            Some(workload) => {
                let all = self.measured(workload, filter)?;
                Some(format!("{:?}", all.iter().map(|m| m.id).collect::<Vec<_>>()))
            }
        };
        let sql = format!(
            "SELECT {RUN} FROM runs
             WHERE started >= ?1 AND (?2 IS NULL OR host = ?2) AND (?3 IS NULL OR profile = ?3)
               AND (?4 IS NULL OR id IN (SELECT run FROM numbers WHERE measured IN
                                         (SELECT value FROM json_each(?4))))
             ORDER BY started DESC, id DESC LIMIT ?5"
        );
        let asked =
            params![filter.earliest(), filter.host, filter.profile, measured, filter.limit()];
        let mut runs = self.query(&sql, asked, past_run)?;
        runs.reverse();
        Ok(runs)
    }

    /// The run of that number; `None` if there is none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn run(&self, id: i64) -> Result<Option<PastRun>, StoreError> {
        let sql = format!("SELECT {RUN} FROM runs WHERE id = ?1");
        self.db.query_row(&sql, [id], past_run).optional().map_err(|e| self.failed(e))
    }

    /// Workloads that any run measured, sorted.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn workloads(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT workload FROM measured ORDER BY workload";
        self.query(sql, [], |row| row.get(0))
    }

    /// Every set of parameters that a workload was ever measured at.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn params(&self, workload: &str) -> Result<Vec<Params>, StoreError> {
        let all = self.measured(workload, &Filter::default())?;
        Ok(all.into_iter().map(|m| m.params).collect())
    }

    /// The measurements of past runs, point by point, each oldest first. `filter.workload` must name
    /// the workload; without it there are none. `filter.last` counts for each point by itself.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn points(&self, filter: &Filter) -> Result<Vec<PastPoint>, StoreError> {
        let Some(workload) = &filter.workload else { return Ok(Vec::new()) };
        let mut points = Vec::new();
        for measured in self.measured(workload, filter)? {
            let mut over_time = self.numbers(&measured, filter)?;
            over_time.reverse();
            points.append(&mut over_time);
        }
        Ok(points)
    }

    /// What the workload was measured at, as far as the filter's parameters let it through, sorted by
    /// parameters; of equal ones trials before samples over time.
    fn measured(&self, workload: &str, filter: &Filter) -> Result<Vec<Measured>, StoreError> {
        let sql = "SELECT id, workload, params, unit, better, over_time, method FROM measured
                   WHERE workload = ?1";
        let mut all = self.query(sql, [workload], measured)?;
        all.retain(|m| filter.takes(&m.params));
        let key = |m: &Measured| (m.over_time, m.method, m.id);
        all.sort_by(|a, b| (&a.params, key(a)).cmp(&(&b.params, key(b))));
        Ok(all)
    }

    /// The numbers of one point, newest first.
    fn numbers(&self, measured: &Measured, filter: &Filter) -> Result<Vec<PastPoint>, StoreError> {
        // In the order of the numbers' own key, so that the last few are read and no more.
        let sql = "SELECT n.run, n.started, r.host, n.n, n.median, n.low, n.high, n.efficiency,
                          n.verdict, r.machine, n.levels
                   FROM numbers n CROSS JOIN runs r ON r.id = n.run
                   WHERE n.measured = ?1 AND n.started >= ?2
                     AND (?3 IS NULL OR r.host = ?3) AND (?4 IS NULL OR r.profile = ?4)
                   ORDER BY n.started DESC, n.run DESC LIMIT ?5";
        let (earliest, limit) = (filter.earliest(), filter.limit());
        let asked = params![measured.id, earliest, filter.host, filter.profile, limit];
        self.query(sql, asked, |row| past_point(row, measured))
    }

    /// All rows of a question.
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
        about(&self.path, error)
    }
}

fn past_run(row: &Row) -> rusqlite::Result<PastRun> {
    Ok(PastRun {
        id: row.get(0)?,
        started: moment(row, 1)?,
        ended: row.get::<_, Option<i64>>(2)?.map(|_| moment(row, 2)).transpose()?,
        host: row.get(3)?,
        machine: row.get(4)?,
        profile: row.get(5)?,
        version: row.get(6)?,
        path: row.get(7)?,
        valid: count(row, 8)?,
        suspect: count(row, 9)?,
        invalid: count(row, 10)?,
    })
}

fn measured(row: &Row) -> rusqlite::Result<Measured> {
    let params: String = row.get(2)?;
    Ok(Measured {
        id: row.get(0)?,
        workload: row.get(1)?,
        params: serde_json::from_str(&params).map_err(|e| wrong(2, e))?,
        unit: word(row, 3)?,
        better: word(row, 4)?,
        over_time: row.get(5)?,
        method: row.get(6)?,
    })
}

fn past_point(row: &Row, measured: &Measured) -> rusqlite::Result<PastPoint> {
    let interval: (Option<f64>, Option<f64>) = (row.get(5)?, row.get(6)?);
    Ok(PastPoint {
        run: row.get(0)?,
        started: moment(row, 1)?,
        host: row.get(2)?,
        machine: row.get(9)?,
        workload: measured.workload.clone(),
        method: measured.method,
        params: measured.params.clone(),
        unit: measured.unit,
        better: measured.better,
        over_time: measured.over_time,
        n: count(row, 3)?,
        median: row.get(4)?,
        ci95: interval.0.zip(interval.1).map(|(low, high)| [low, high]),
        levels: row.get::<_, Option<i64>>(10)?.map(|_| count(row, 10)).transpose()?,
        efficiency: row.get(7)?,
        verdict: word(row, 8)?,
    })
}

/// One of the words that the run file has too.
fn word<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_value(serde_json::Value::String(text)).map_err(|e| wrong(column, e))
}

fn moment(row: &Row, column: usize) -> rusqlite::Result<Timestamp> {
    let micros: i64 = row.get(column)?;
    let at = jiff::Timestamp::from_microsecond(micros);
    at.map(Timestamp).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, micros))
}

fn count(row: &Row, column: usize) -> rusqlite::Result<u64> {
    let count: i64 = row.get(column)?;
    u64::try_from(count).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, count))
}

fn wrong(column: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}
