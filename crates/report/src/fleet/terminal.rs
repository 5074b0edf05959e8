//! One screen, whatever the fleet's size: long texts are cut, long lists counted.

use proofmark_model::{FigureKind, FleetReport, NodeState, Verdict};

use super::figures::Row;
use super::lookup::Fleet;
use super::view::{Group, Said, SaidLink, View};
use super::words::{group_name, named, short, speed};
use crate::Options;
use crate::terminal::page::Page;
use crate::view::{Columns, Entry, Table, counted, joined};

/// Lines of a screen of so many columns.
const LINES: usize = 24;
const COLUMNS: usize = 80;
/// Groups that have a line each.
const GROUPS: usize = 3;
/// Lines that the nodes leave to the figures.
const FOR_FIGURES: usize = 5;
/// Longest title of a figure and name of a node in the table, in characters.
const TITLE: usize = 30;
const NAME: usize = 14;

/// The answer, the nodes in another state than healthy with their causes, the groups, the main figures, and
/// what to do next.
pub fn terminal(report: &FleetReport, options: &Options) -> String {
    let fleet = Fleet::new(report);
    let view = View::new(&fleet);
    let mut page = Page::new(options);
    let head = head(&mut page, &view);
    let next = match view.next.as_slice() {
        [] => String::new(),
        next => page.cut(2, &format!("Next: {}", next.join(" ")), page.most(3)),
    };
    let groups = groups(&page, &view.groups);
    // An empty line between each two parts.
    let taken = [&head, &next, &groups].map(|part| part.lines().count()).iter().sum::<usize>() + 4;
    let room = page.most(LINES).saturating_sub(taken);
    let links = links(&page, &view);
    let room = room.saturating_sub(links.lines().count());
    let nodes = nodes(&page, &view, room.saturating_sub(FOR_FIGURES));
    let left = room.saturating_sub(nodes.lines().count());
    let notes = notes(&page, &view, left.saturating_sub(FOR_FIGURES));
    let left = left.saturating_sub(notes.lines().count());
    let nodes = links + &nodes + &notes;
    let figures = figures(&page, &view.rows, left);
    for part in [head, nodes, groups, figures, next].iter().filter(|part| !part.is_empty()) {
        if !page.out.is_empty() {
            page.blank();
        }
        page.out += part;
    }
    page.out
}

impl Page {
    /// As many lines as so many of a usual terminal are on this one.
    fn most(&self, lines: usize) -> usize {
        lines * COLUMNS.div_ceil(self.width)
    }

    /// A wrapped text of so many lines at most, whose cut is seen.
    fn cut(&self, hang: usize, text: &str, most: usize) -> String {
        let mut part = self.part();
        part.wrap("", hang, text);
        let lines: Vec<&str> = part.out.lines().collect();
        if lines.len() <= most {
            return part.out;
        }
        let (last, kept) = lines[..most].split_last().map_or(("", &[][..]), |(l, k)| (*l, k));
        let mut last = last.to_owned();
        while textwrap::core::display_width(&last) >= self.width {
            last.pop();
        }
        kept.iter()
            .copied()
            .chain([&*format!("{}…", last.trim_end())])
            .fold(String::new(), |out, line| out + line + "\n")
    }
}

/// The answer in bold, and what a testbed is.
fn head(page: &mut Page, view: &View) -> String {
    let answer = page.cut(0, &view.answer, page.most(3));
    page.title(answer.trim_end());
    let bold = std::mem::take(&mut page.out);
    let testbed = view.testbed.iter().map(|l| page.cut(2, &format!("testbed: {l}"), page.most(2)));
    bold + &testbed.collect::<String>()
}

/// The first links that are slow or may be.
fn links(page: &Page, view: &View) -> String {
    const SHOWN: usize = 2;
    let lines = if view.links.len() > 1 { 1 } else { 3 };
    let paint = |l: &SaidLink, text: String| match l.color {
        Some(color) => text.replacen(l.mark, &page.paint.verdict(color, l.mark), 1),
        None => text,
    };
    let one =
        |l: &SaidLink| paint(l, page.cut(2, &format!("{}  {}", l.mark, l.text), page.most(lines)));
    let rest = view.links.len().saturating_sub(SHOWN);
    let more =
        (rest > 0).then(|| page.cut(2, &format!("and {}", counted(rest as u64, "other link")), 1));
    view.links.iter().take(SHOWN).map(one).chain(more).collect()
}

/// What befell healthy nodes, as much as there is room for.
fn notes(page: &Page, view: &View, room: usize) -> String {
    let one = |note: &String| page.cut(2, &format!("note  {note}"), page.most(2));
    let mut out = String::new();
    for note in view.notes.iter().map(one) {
        if out.lines().count() + note.lines().count() > room {
            break;
        }
        out += &note;
    }
    out
}

/// Nodes in another state than healthy, worst first, in so many lines.
fn nodes(page: &Page, view: &View, room: usize) -> String {
    let mut left = room;
    let mut out = String::new();
    for (at, said) in view.nodes.iter().enumerate() {
        let is_last = at + 1 == view.nodes.len();
        let one = page.said(said);
        let lines = one.lines().count();
        if lines + usize::from(!is_last) > left {
            out += &page.cut(2, &rest(&view.nodes[at..]), page.most(1));
            break;
        }
        left -= lines;
        out += &one;
    }
    out
}

/// `and others: 21 slow, 20 unverified`
fn rest(said: &[Said]) -> String {
    let count = |state: NodeState| {
        let nodes: usize = said.iter().filter(|s| s.state == state).map(|s| s.names.len()).sum();
        (nodes > 0).then(|| format!("{nodes} {}", state.as_str()))
    };
    format!("and others: {}", joined(NodeState::ALL.into_iter().filter_map(count), ", "))
}

impl Page {
    /// `✗ slow  n3 is 7.9 % below its group: ...`
    fn said(&self, said: &Said) -> String {
        let names = named(said.names.iter().map(String::as_str));
        let begins = said.names.first().is_some_and(|name| said.text.starts_with(name.as_str()));
        let text = if begins { said.text.clone() } else { joined([&names, &said.text], ": ") };
        let cut = self.cut(2, &format!("{}  {text}", said.mark), self.most(3));
        match said.color {
            Some(color) => cut.replacen(said.mark, &self.paint.verdict(color, said.mark), 1),
            None => cut,
        }
    }
}

/// A line a group, of few groups two: how many nodes it has and what it is.
fn groups(page: &Page, groups: &[Group]) -> String {
    let lines = if groups.len() > 2 { 1 } else { 2 };
    let line = |g: &Group| {
        let name = joined([&*g.name, &*g.size], ", ");
        let facts: Vec<String> =
            g.facts.iter().map(|f| format!("{} {}", f.name, f.value)).collect();
        let what = if g.differences.is_empty() { &facts } else { &g.differences };
        let one = page.cut(2, &joined([name, what.join("; ")], ": "), page.most(lines));
        let left = g.not_judged.iter().map(|left| page.cut(2, left, page.most(lines)));
        one + &left.collect::<String>()
    };
    let shown = if groups.len() > GROUPS { GROUPS - 1 } else { groups.len() };
    let mut out: String = groups[..shown].iter().map(line).collect();
    let rest = &groups[shown..];
    if !rest.is_empty() {
        let nodes: usize = rest.iter().map(|g| g.nodes.len()).sum();
        let nodes = counted(nodes as u64, "node");
        out += &page.cut(2, &format!("and {} other groups of {nodes}", rest.len()), page.most(1));
    }
    out
}

/// The main figures in so many lines.
fn figures(page: &Page, rows: &[Row], room: usize) -> String {
    // A head, and a line that counts the others.
    let most = room.saturating_sub(2).max(1);
    let shown = if rows.len() <= most + 1 { rows.len() } else { most };
    let mut part = page.part();
    part.table(&table(&rows[..shown]));
    let rest = rows.len() - shown;
    if rest > 0 {
        part.wrap("", 2, &format!("and {rest} other figures"));
    }
    if rows.is_empty() { String::new() } else { part.out }
}

/// A title that fits, with its kind whole.
fn fitted(title: &str) -> String {
    let kinds = [FigureKind::Attainable, FigureKind::Delivered].map(FigureKind::as_str);
    match title.rsplit_once(", ").filter(|(_, kind)| kinds.contains(kind)) {
        Some((of, kind)) => format!("{}, {kind}", short(of, TITLE - kind.len() - 2)),
        None => short(title, TITLE),
    }
}

fn table(rows: &[Row]) -> Table {
    let several = rows.iter().any(|r| r.group != rows[0].group);
    let compared = rows.iter().any(|r| r.slowest.is_some());
    let node = |name: &str, value: &str| format!("{} {value}", short(name, NAME));
    let slowest = move |r: &&Row| {
        let slowest = r.slowest.as_ref().map(|(name, ratio)| node(name, &speed(*ratio)));
        let sign = if r.color() == Some(Verdict::Invalid) { "✗ " } else { "" };
        Entry::from(slowest.map(|text| format!("{sign}{text}"))).coloured(r.color())
    };
    Columns::new("")
        .column("figure", |r: &&Row| fitted(&r.title))
        .keys()
        .when(several, |t| t.column("group", |r| group_name(r.group)).spare(2))
        .number("median", |r| r.median.clone())
        .when(compared, |t| {
            t.number("spread", |r| r.spread.clone())
                .spare(3)
                .number("margin", |r| match &r.margin {
                    margin if r.judged => margin.clone(),
                    _ => Some("not judged".to_owned()),
                })
                .spare(1)
                .column("slowest node, ratio", slowest)
        })
        .when(!compared && rows.iter().any(|r| r.of_ceiling.is_some()), |t| {
            t.column("lowest share of ceiling", move |r| {
                r.of_ceiling.as_ref().map(|(name, share)| node(name, share))
            })
        })
        .rows(rows)
}
