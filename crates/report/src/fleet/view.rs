//! The document of a fleet's report.

use proofmark_model::{FleetReport, NodeState, Pairs, Verdict};

use super::figures;
use super::groups::Group;
use super::lookup::Fleet;
use super::nodes::Problem;
use super::statements::Statements;
use super::words::{self, mark, short};
use super::{links, map, rounds, screen};
use crate::view::{
    Audience, Blocks, Columns, Details, Document, Entry, Fact, Item, Rich, Section, Style, Table,
    Text, Tone, clean, counted, enclosed, joined,
};

/// Maximum of links that are named.
const LINKS: usize = 12;
/// Maximum of lines of nodes that are not folded, and of all lines of nodes.
const OPEN: usize = 20;
const NODES: usize = 100;
/// Maximum of names in one line of nodes.
const NAMES: usize = 100;
/// Maximum of groups on the page.
const GROUPS: usize = 8;
/// Maximum length of the label in the title, in characters: the title has one line.
const LABEL: usize = 40;

/// Makes the document: a screen for a terminal of `width` columns, and the page. If `whole`, the
/// screen cuts no text and leaves out no node.
pub fn document(report: &FleetReport, width: usize, whole: bool) -> Document {
    let fleet = Fleet::new(report);
    let all = Statements::new(&fleet);
    let make = if whole { screen::whole } else { screen::blocks };
    let mut out = make(&all, width);
    let page = Audience::Document;
    out.add_for(page, "answer", answer(&fleet, &all));
    out.add_for(page, "map", Section::new("map", "Nodes by figure", |out| map::add(out, &fleet)));
    let between = Section::new("between", "Network between nodes", |out| links::add(out, &fleet));
    out.add_for(page, "between", between);
    let rounds = Section::new("rounds", "Rounds of slow figures", |out| rounds::add(out, &fleet));
    out.add_for(page, "rounds", rounds);
    let title = if all.groups.len() > 1 { "Groups" } else { "Figures" };
    let groups = Section::new("groups", title, |out| groups(out, &fleet, &all.groups));
    out.add_for(page, "groups", groups);
    let method = METHOD.map(str::to_owned).to_vec();
    out.add_for(page, "method", Section::new("method", "Method", |out| out.add("method", method)));
    Document { title: title_of(report), facts: facts(report), blocks: out.0 }
}

fn title_of(report: &FleetReport) -> String {
    let nodes = counted(report.nodes.len() as u64, "node");
    match report.plan.label.as_deref().map(clean).filter(|label| !label.is_empty()) {
        Some(label) => format!("Fleet {}: {nodes}", short(&label, LABEL)),
        None => format!("Fleet of {nodes}"),
    }
}

/// Returns how the fleet was measured.
fn facts(report: &FleetReport) -> Vec<Fact> {
    let plan = &report.plan;
    let at_once = plan.at_once.map(|n| Fact::plain("nodes at a time", &n.to_string()));
    let pairs = plan.pairs.map(|pairs| match pairs {
        Pairs::All => Fact::plain("network partners", "all"),
        Pairs::Rounds(n) => Fact::plain("network partners", &n.to_string()),
    });
    let facts = [
        Fact::plain("started", &plan.started.display()),
        Fact::plain("launcher", &plan.launcher),
        Fact::plain("profile", &plan.task.profile),
        Fact::plain("rounds", &plan.rounds.to_string()),
        Fact::plain("program", &format!("proofmark {}", plan.tool.version)),
    ];
    let subnet = plan.subnet.as_deref().map(|subnet| Fact::plain("subnet", subnet));
    facts.into_iter().chain(at_once).chain(pairs).chain(subnet).collect()
}

/// Makes the section of the answer, of links and nodes that are not healthy, and of the next steps.
fn answer(fleet: &Fleet, all: &Statements) -> Section {
    let links = all.links.iter().take(LINKS).map(|l| Item::from(l.marked(&l.text)));
    let links: Vec<Item> = links.collect();
    let more_links = all.links.len().saturating_sub(LINKS);
    let more_nodes: usize = all.nodes.iter().skip(NODES).map(|p| p.names.len()).sum();
    let lines = &all.nodes[..all.nodes.len().min(NODES)];
    let (open, folded) = lines.split_at(lines.len().min(OPEN));
    let items = |texts: &[String]| texts.iter().cloned().map(Item::from).collect::<Vec<Item>>();
    let section = Section::new("answer", "Verdict", |out| {
        let answer = Rich::toned(Tone::Strong, &*all.answer);
        let style = Style::Verdict(worst(fleet.report, all).id());
        out.add("answer", Text::new(style, [answer, counts(fleet.report)]));
        out.add("testbed", Text::new(Style::Warning, all.testbed.clone()));
        out.add("links", links);
        out.add(
            "links",
            Text::new(Style::Plain, more("other link", more_links, "slow or unverified")),
        );
        out.add("nodes", table("Nodes", open));
        let title = format!("{} more lines", folded.len());
        out.add(
            "nodes",
            Details::new(&title, |out| out.add("nodes", table("Further nodes", folded))),
        );
        let rest = "slow, unverified or not compared";
        out.add("nodes", Text::new(Style::Plain, more("other node", more_nodes, rest)));
        out.add("notes", Section::plain("Notes on healthy nodes", "notes", items(&all.notes)));
        out.add("next", Section::plain("Next steps", "next", items(&all.next)));
    });
    Section { unseen: true, ..section }
}

/// Returns `3 other links are slow or unverified.`
fn more(what: &str, count: usize, words: &str) -> Option<String> {
    let are = if count == 1 { "is" } else { "are" };
    (count > 0).then(|| format!("{} {are} {words}.", counted(count as u64, what)))
}

/// Returns the worst verdict, whose colour repeats the answer.
fn worst(report: &FleetReport, all: &Statements) -> Verdict {
    let links = all.links.iter().map(|l| l.state);
    let state = report.nodes.iter().map(|n| n.state).chain(links).min();
    state.map_or(Verdict::Invalid, words::color)
}

/// Returns the number of nodes in each state.
fn counts(report: &FleetReport) -> Rich {
    let counts = NodeState::ALL.map(|state| (state, report.count(state))).into_iter();
    counts.filter(|(_, n)| *n > 0).fold(Rich::default(), |out, (state, n)| {
        let between = if out.0.is_empty() { "" } else { "  " };
        let tone = Tone::Verdict(words::color(state));
        out.and(Tone::Plain, between).and(tone, format!("{} {n}", mark(state)))
    })
}

/// Makes a table of nodes with their states and causes. The reasons of a cause are its footnote.
fn table(what: &str, nodes: &[Problem]) -> Table {
    let several = nodes.iter().any(|p| !p.group.is_empty());
    let caption = format!("{what} that are slow, unverified or not compared, worst first");
    Columns::new(caption)
        .column("node", |p: &&Problem| names(&p.names))
        .keys()
        .column("state", |p| Entry::from(p.mark).coloured(Some(words::color(p.state))))
        .column("cause", |p| Entry::from(&*p.text).noted(reasons(&p.more)))
        .when(several, |t| {
            t.column("group", |p| Some(p.group.clone()).filter(|group| !group.is_empty()))
        })
        .column("rounds", |p| p.rounds.clone())
        .rows(nodes)
}

/// Lists names, and counts those above a number.
fn names(all: &[String]) -> String {
    let rest = all.len().saturating_sub(NAMES);
    let more = (rest > 0).then(|| format!("{rest} others"));
    joined(all.iter().take(NAMES).chain(&more), ", ")
}

fn reasons(all: &[String]) -> String {
    const MOST: usize = 12;
    let rest = all.len().saturating_sub(MOST);
    let more = (rest > 0).then(|| format!("{rest} others"));
    joined(all.iter().take(MOST).chain(&more), "; ")
}

/// Adds the first groups, each with its facts and figures.
fn groups(out: &mut Blocks, fleet: &Fleet, groups: &[Group]) {
    for (at, group) in groups.iter().enumerate().take(GROUPS) {
        let title = joined([&*group.name, &group.size], ": ");
        let part = Section::new("", &title, |out| {
            let differences = joined(&group.differences, "; ");
            out.add("group", enclosed("Difference: ", &differences, "."));
            out.add("group", Text::new(Style::Quiet, [group.facts.as_str()]));
            let differing = joined(&group.differing, "; ");
            out.add("group", enclosed("Facts that differ between its nodes: ", &differing, "."));
            out.add(
                "group",
                group
                    .not_judged
                    .clone()
                    .map_or(String::new(), |s| enclosed("Not judged: ", &s, "")),
            );
            out.add(
                "group",
                enclosed("Not compared, since no node reports it: ", &group.unknown, "."),
            );
            let names = joined(&group.nodes, ", ");
            out.add("names", Details::new("Names of the nodes", |out| out.add("names", names)));
            let of = enclosed(" of group ", group.name.trim_start_matches("Group "), "");
            out.add("figures", figures::table(fleet, at, format!("All figures{of}")));
        });
        out.add("group", part);
    }
    let rest = groups.len().saturating_sub(GROUPS);
    out.add("groups", Text::new(Style::Quiet, more("other group", rest, "not shown")));
}

/// The method of a fleet's report.
const METHOD: [&str; 6] = [
    "Rounds. Every node measures the same figures in several rounds. The ratio of a round is the \
     node's speed as a share of its group's median of the same round: below 1 is worse, for times \
     too. A node's ratio is the median over its rounds. 8 + 3 means that 8 rounds of the first \
     pass and 3 of the second have a result.",
    "Groups. Nodes with the same facts are a group, and are compared only with each other: each \
     group of 4 or more is judged by itself. A node of a smaller group is unverified. A fleet of \
     fewer than 4 nodes is not compared: shares of ceilings are shown.",
    "Slow. A round is slow if its ratio is below 1 minus the margin. A node that is slow at a \
     figure in the first pass measures once more, together with a few nodes of its group. It is \
     slow only if the second pass shows it too; else it is unverified, since it may be slow only \
     while all nodes run.",
    "Healthy. A node is healthy if it is as fast as its group at every required result: at every \
     result that most nodes of the group have. A node that lacks one, or has too few rounds, is \
     unverified. Spread: robust standard deviation between nodes, as a share.",
    "Margin. At a figure whose margin is above 15 % a node that is not slow is not judged. If that \
     is so for each figure of a required result, attainable and delivered, nodes differ too much \
     to judge it, and every other node of the group is unverified.",
    "Links. Nodes of a group measure the network in rounds of pairs. A pair's ratio counts for \
     both nodes: a node that is slow with all its partners is slow. A pair that is slow while both \
     nodes are as fast with others is measured again in every round of a second pass, and so are \
     its nodes with others; the link is slow if 7 of 8 rounds show that.",
];
