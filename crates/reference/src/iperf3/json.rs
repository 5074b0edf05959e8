//! Access to objects of the JSON by name, and to their numbers. A name may occur twice in an object
//! (`sock_bufsize` of several streams): the last counts.

use proofmark_model::is_quantity;
use serde_json::Value;

use crate::Malformed;

/// The largest whole number that a double represents exactly: iperf3 prints all numbers as doubles.
const MOST: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    text: &'a str,
    name: &'a str,
    value: &'a Value,
}

impl<'a> Section<'a> {
    pub(super) fn whole(text: &'a str, value: &'a Value) -> Self {
        Self { text, name: "", value }
    }

    pub(super) fn get(&self, name: &'a str) -> Option<Self> {
        self.value.get(name).filter(|v| v.is_object()).map(|value| Self { name, value, ..*self })
    }

    pub(super) fn section(&self, name: &'a str) -> Result<Self, Malformed> {
        self.get(name).ok_or_else(|| self.wrong(name, "is not there"))
    }

    /// Returns the objects of the array of that name; none if there is no such array.
    pub(super) fn each(&self, name: &'a str) -> impl Iterator<Item = Self> + use<'a> {
        let section = *self;
        let items = self.value.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        items.iter().map(move |value| Self { name, value, ..section })
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    pub(super) fn word(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.value.get(key)?.as_bool()
    }

    /// Returns a number that is not negative.
    pub(super) fn number(&self, key: &str) -> Result<f64, Malformed> {
        let value = self.value.get(key).ok_or_else(|| self.wrong(key, "is not there"))?;
        let number = value.as_f64().filter(|v| is_quantity(*v) && *v >= 0.0);
        number.ok_or_else(|| self.wrong(key, "is not a number, or is negative"))
    }

    pub(super) fn positive(&self, key: &str) -> Result<f64, Malformed> {
        let number = self.number(key)?;
        if number > 0.0 { Ok(number) } else { Err(self.wrong(key, "is zero")) }
    }

    pub(super) fn count(&self, key: &str) -> Result<u64, Malformed> {
        let number = self.number(key)?;
        if number.fract() != 0.0 || number > MOST {
            return Err(self.wrong(key, "is not a whole number, or too large"));
        }
        Ok(number as u64)
    }

    pub(super) fn counted(&self, key: &str) -> Result<Option<u64>, Malformed> {
        self.has(key).then(|| self.count(key)).transpose()
    }

    /// Returns an error about a key of this object, at the last line that names the object. The
    /// parsed JSON has no line numbers.
    pub(super) fn wrong(&self, key: &str, what: &str) -> Malformed {
        let named = format!("\"{}\"", if self.name.is_empty() { key } else { self.name });
        let at = self.text.rfind(&named).unwrap_or(0);
        let line = self.text.get(..at).unwrap_or("").matches('\n').count() + 1;
        let place = if self.name.is_empty() { String::new() } else { format!("{}.", self.name) };
        Malformed::at(line, format!("{place}{key} {what}"))
    }
}
