//! A fleet's report on one screen of a terminal, whatever the fleet's size: long texts are cut,
//! long lists counted.

use proofmark_model::{FigureKind, NodeState, Verdict};

use super::figures::Row;
use super::groups::Group;
use super::nodes::Problem;
use super::statements::Statements;
use super::words::{group_name, named, short, speed};
use crate::Options;
use crate::terminal::page::Page;
use crate::view::{
    Audience, Block, Blocks, Columns, Content, Entry, Item, Style, Table, Text, counted, joined,
};

/// Lines of a screen.
const LINES: usize = 24;
/// Maximum of lines of a text, if all other parts have room too.
const LONGEST: usize = 6;
/// Maximum of links and groups with lines of their own.
const LINKS: usize = 2;
const GROUPS: usize = 3;
/// Lines that the nodes leave to the figures.
const FOR_FIGURES: usize = 5;
/// Caption of a table without its spare columns.
const LEFT_OUT: &str = "a wider terminal shows more columns";

/// Minimum length to which a figure's title and a node's name are cut in the table, in characters.
const TITLE: usize = 30;
const NAME: usize = 14;

/// Makes the screen below the title for a terminal of `width` columns.
pub fn blocks(all: &Statements, width: usize) -> Blocks {
    Screen { width, whole: false }.blocks(all)
}

/// Makes the same with whole texts, every node, link, group and figure.
pub fn whole(all: &Statements, width: usize) -> Blocks {
    Screen { width, whole: true }.screen(all, usize::MAX)
}

/// The screen of a terminal.
struct Screen {
    width: usize,
    /// True if nothing is cut or left out.
    whole: bool,
}

impl Screen {
    /// Makes the screen below the title, with as much of each text as all parts have room for.
    fn blocks(&self, all: &Statements) -> Blocks {
        let fits = |blocks: &Blocks| self.lines(&blocks.0) < LINES;
        let mut screens = (1..=LONGEST).rev().map(|most| self.screen(all, most));
        screens.find(fits).unwrap_or_else(|| self.screen(all, 1))
    }

    /// Makes the screen with texts of so many lines at most.
    fn screen(&self, all: &Statements, most: usize) -> Blocks {
        let text = |style, text: &str, most| self.cut(text, most, |text| Text::new(style, [text]));
        let answer = text(Style::Plain, &all.answer, most);
        let testbed = text(Style::Warning, all.testbed.as_deref().unwrap_or_default(), most.min(2));
        let groups = self.groups(&all.groups, most.min(2));
        let next = self.item("Next", &all.next.join(" "), most);
        // The title, and an empty line between each two parts.
        let taken = self.height(&answer)
            + self.height(&testbed)
            + self.height(&groups)
            + self.height(&next)
            + 5;
        let lines = if self.whole { usize::MAX } else { LINES };
        let mut room = lines.saturating_sub(taken);
        let mut problems = self.links(&all.links, most);
        room = room.saturating_sub(self.height(&problems));
        let nodes = self.most_nodes(&all.nodes, most, room.saturating_sub(FOR_FIGURES));
        room = room.saturating_sub(self.height(&nodes));
        let notes = self.notes(&all.notes, most.min(2), room.saturating_sub(FOR_FIGURES));
        room = room.saturating_sub(self.height(&notes));
        problems.extend(nodes.into_iter().chain(notes));
        let mut out = Blocks::default();
        out.add_for(Audience::Terminal, "answer", answer);
        out.add_for(Audience::Terminal, "testbed", testbed);
        out.add_for(Audience::Terminal, "problems", problems);
        out.add_for(Audience::Terminal, "groups", groups);
        out.add_for(Audience::Terminal, "figures", figures(&all.rows, room, self.width));
        out.add_for(Audience::Terminal, "next", next);
        out
    }

    /// Counts the lines of blocks on the screen.
    fn lines(&self, blocks: &[Block]) -> usize {
        let mut page = Page::new(&Options { width: self.width, color: false });
        page.blocks(blocks);
        page.out.lines().count()
    }

    fn height<C: Into<Content> + Clone>(&self, content: &C) -> usize {
        self.lines(&Blocks::one("", content.clone()).0)
    }

    /// Returns content with as much of a text as takes so many lines at most, and marks the cut.
    fn cut<C: Into<Content> + Clone>(
        &self,
        text: &str,
        most: usize,
        show: impl Fn(String) -> C,
    ) -> C {
        if self.whole {
            return show(text.to_owned());
        }
        let lengths: Vec<usize> = (1..=most * self.width).collect();
        let fits = |length: &usize| self.height(&show(short(text, *length))) <= most;
        show(short(text, lengths.partition_point(fits).max(1)))
    }

    /// Returns a text after a term; nothing without a text.
    fn item(&self, term: &str, text: &str, most: usize) -> Vec<Item> {
        let shown = |text: String| vec![Item { term: term.to_owned(), texts: vec![text.into()] }];
        if text.is_empty() { Vec::new() } else { self.cut(text, most, shown) }
    }

    /// Returns the first links that are slow or unverified.
    fn links(&self, links: &[Problem], most: usize) -> Vec<Item> {
        let lines = if links.len() > 1 { 1 } else { most };
        let count = if self.whole { links.len() } else { LINKS };
        let shown = links.iter().take(count);
        let shown =
            shown.flat_map(|l| self.cut(&l.text, lines, |text| vec![l.marked(&text).into()]));
        let rest = links.len().saturating_sub(count);
        let rest = if rest > 0 { counted(rest as u64, "link") } else { String::new() };
        shown.chain(self.item("and others", &rest, 1)).collect()
    }

    /// Returns all nodes that are not healthy, with texts as long as they have room for, of at least
    /// two lines; of too many the first ones.
    fn most_nodes(&self, nodes: &[Problem], most: usize, room: usize) -> Vec<Item> {
        let most = most.min(LONGEST);
        let screens =
            |least: usize| (least.min(most)..=most).rev().map(|most| self.nodes(nodes, most, room));
        let found = screens(2).find(|(shown, _)| *shown == nodes.len());
        let found = found.or_else(|| screens(1).find(|(shown, _)| *shown > 0));
        found.unwrap_or_else(|| self.nodes(nodes, 1, room)).1
    }

    /// Returns nodes that are not healthy, worst first, in so many lines, and how many there are.
    fn nodes(&self, nodes: &[Problem], most: usize, room: usize) -> (usize, Vec<Item>) {
        let mut left = room;
        let mut shown = 0;
        let mut out = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let is_last = at + 1 == nodes.len();
            let one = self.with_names(node, most);
            let lines = self.height(&one);
            if lines + usize::from(!is_last) > left {
                let rest = format!("{} (--all names them)", states(&nodes[at..]));
                out.extend(self.item("and others", &rest, 1));
                break;
            }
            left -= lines;
            shown += 1;
            out.extend(one);
        }
        (shown, out)
    }

    /// Returns `✗ slow  n3: reaches 92 % of its group at Triad`.
    fn with_names(&self, node: &Problem, most: usize) -> Vec<Item> {
        let names = match self.whole {
            true => joined(&node.names, ", "),
            false => named(node.names.iter().map(String::as_str)),
        };
        let text = if self.whole { &node.text } else { &node.brief };
        let begins = node.names.first().is_some_and(|name| text.starts_with(name.as_str()));
        let text = if begins { text.clone() } else { joined([&names, text], ": ") };
        self.cut(&text, most, |text| vec![node.marked(&text).into()])
    }

    /// Returns notes on healthy nodes, as far as so many lines have room for them.
    fn notes(&self, notes: &[String], most: usize, room: usize) -> Vec<Item> {
        let mut left = room;
        let all = notes.iter().map(|note| self.item("note", note, most));
        let shown = all.take_while(|note| {
            let lines = self.height(note);
            let fits = lines <= left;
            left = left.saturating_sub(lines);
            fits
        });
        shown.flatten().collect()
    }

    /// Returns the first groups: their sizes, and their facts or differences from the largest.
    fn groups(&self, groups: &[Group], most: usize) -> Vec<Item> {
        let most = if groups.len() > 2 { 1 } else { most };
        let all = groups.len() <= GROUPS || self.whole;
        let shown = if all { groups.len() } else { GROUPS - 1 };
        let (shown, rest) = groups.split_at(shown);
        let one = |g: &Group| {
            let differences = joined(&g.differences, "; ");
            let facts = if self.whole { &g.facts } else { &g.brief_facts };
            let about = if differences.is_empty() { facts } else { &differences };
            let left_out = g.not_judged.as_deref().unwrap_or_default();
            let name = joined([&*g.name, &*g.size], ", ");
            let differ = joined(&g.differing, "; ");
            [
                self.item(&name, about, most),
                self.item("Facts that differ", &differ, most.max(2)),
                self.item("Not judged", left_out, most),
                self.item("Unknown facts", if self.whole { &g.unknown } else { "" }, most),
            ]
            .concat()
        };
        let mut out: Vec<Item> = shown.iter().flat_map(one).collect();
        if !rest.is_empty() {
            let nodes: usize = rest.iter().map(|g| g.nodes.len()).sum();
            let nodes = counted(nodes as u64, "node");
            out.extend(self.item(&format!("and {} other groups", rest.len()), &nodes, 1));
        }
        out
    }
}

/// Returns `21 slow, 20 unverified`.
fn states(nodes: &[Problem]) -> String {
    let count = |state: NodeState| {
        let count: usize = nodes.iter().filter(|p| p.state == state).map(|p| p.names.len()).sum();
        (count > 0).then(|| format!("{count} {}", state.as_str()))
    };
    joined(NodeState::ALL.into_iter().filter_map(count), ", ")
}

/// Returns the main figures in so many lines.
fn figures(rows: &[Row], room: usize, width: usize) -> Table {
    // The head and, where not all rows are shown, the caption.
    let most = room.saturating_sub(2).max(1);
    let all = rows.len() <= most + 1;
    let shown = if all { rows } else { &rows[..most] };
    let caption = if all { String::new() } else { format!("{most} of {} figures", rows.len()) };
    let lengths = room_for_names(shown, width);
    let all = table(shown, caption.clone(), lengths);
    let mut page = Page::new(&Options { width, color: false });
    page.blocks(&Blocks::one("", all.clone()).0);
    let compared = shown.iter().any(|r| r.slowest.is_some());
    match compared && !page.out.contains("spread") {
        true => table(shown, joined([&*caption, LEFT_OUT], "; "), lengths),
        false => all,
    }
}

/// Returns the lengths of titles and of names for which a terminal has room beside the numbers.
fn room_for_names(rows: &[Row], width: usize) -> [usize; 2] {
    /// Columns of the numbers, each with the space before it.
    const NUMBERS: usize = 17 + 8 + 12;
    /// Columns of the last heading, and of the sign and the ratio around a name.
    const HEADING: usize = 21;
    const AROUND: usize = 10;
    let length = |text: &str| text.chars().count();
    let title = rows.iter().map(|r| length(&r.title)).max().unwrap_or(0);
    let names = rows.iter().filter_map(|r| Some(length(&r.slowest.as_ref()?.0)));
    let last = names.max().map_or(0, |name| HEADING.max(name + AROUND));
    let room = width.saturating_sub(NUMBERS);
    let title = title.min(room.saturating_sub(last)).max(TITLE);
    [title, room.saturating_sub(title + AROUND).max(NAME)]
}

/// Cuts a title to fit, but not its kind.
fn fitted(title: &str, most: usize) -> String {
    let kinds = [FigureKind::Attainable, FigureKind::Delivered].map(FigureKind::as_str);
    match title.rsplit_once(", ").filter(|(_, kind)| kinds.contains(kind)) {
        Some((of, kind)) => format!("{}, {kind}", short(of, most - kind.len() - 2)),
        None => short(title, most),
    }
}

fn table(rows: &[Row], caption: String, [title, name]: [usize; 2]) -> Table {
    let several = rows.iter().any(|r| r.group != rows[0].group);
    let compared = rows.iter().any(|r| r.slowest.is_some());
    let node = move |node: &str, value: &str| format!("{} {value}", short(node, name));
    let slowest = move |r: &&Row| {
        let slowest = r.slowest.as_ref().map(|(name, ratio)| node(name, &speed(*ratio)));
        let sign = if r.color() == Some(Verdict::Invalid) { "✗ " } else { "" };
        Entry::from(slowest.map(|text| format!("{sign}{text}"))).coloured(r.color())
    };
    Columns::new(caption)
        .column("figure", move |r: &&Row| fitted(&r.title, title))
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
