//! The time limit of a plan: that of the request, or of the profile.

use proofmark_model::Host;

use super::budget;
use super::estimate::around_s;
use super::lengthen::lengthen;
use super::{rank, tools_s};
use crate::planned::Planned;
use crate::request::PlanRequest;
use crate::schedule::TOLERANCE;

/// Largest part of a budget that is reserved for the start and the end of the command.
const AROUND_PART: f64 = 0.1;

/// The inputs of a plan that is kept to its time limit.
pub(super) struct TimeLimit<'a> {
    pub(super) request: &'a PlanRequest,
    pub(super) host: &'a Host,
    /// The plan as requested.
    pub(super) asked: &'a Planned,
}

impl TimeLimit<'_> {
    /// The plan within its time limit, with the budgets that hold what it lacks.
    pub(super) fn plan(&self) -> Planned {
        let budget_s = self.asked.plan.policy.budget_s;
        let mut planned = match budget_s.filter(|_| self.request.budget.is_some()) {
            Some(budget_s) => {
                let plan_within = |budget_s| self.within(Some(budget_s));
                budget::plan_with_advice(self.asked, budget_s, &plan_within)
            }
            None => self.within(budget_s),
        };
        planned.left_out_for_time = budget::describe(&planned);
        planned
    }

    /// Makes the plan fit into so many seconds. The profile's time is for our own trials, and no limit
    /// where the request names workloads.
    pub(super) fn within(&self, budget_s: Option<f64>) -> Planned {
        let Self { request, host, asked } = *self;
        let mut planned = asked.clone();
        planned.plan.policy.budget_s = budget_s;
        let Some(budget_s) = budget_s else { return planned };
        let around_s = around_s(&planned.plan);
        let own_s = match request.budget {
            Some(_) => (1.0 - TOLERANCE) * budget_s - around_s.min(AROUND_PART * budget_s),
            None => budget_s,
        };
        budget::shorten_rounds_under_quota(&mut planned, own_s);
        if request.budget.is_some() {
            let points = &asked.plan.points;
            budget::shrink(&mut planned, own_s, &|policy| lengthen(policy, host, points));
        } else if request.names.is_empty() {
            let own_s = budget_s + tools_s(&planned.plan);
            budget::leave_out(&mut planned, own_s);
            planned.plan.policy.budget_s = Some((own_s + around_s) / (1.0 - TOLERANCE));
        } else {
            budget::leave_out_under_quota(&mut planned, budget_s);
            return planned;
        }
        planned.tools.most_s = Some(tools_s(&planned.plan));
        planned.tools.kept_s = budget::kept_part(&planned) * budget_s;
        let mut ranks = rank::ranks(&planned);
        ranks.extend(ranks.len()..ranks.len() + planned.plan.left_out.len());
        planned.ranks = Some(ranks);
        planned
    }
}
