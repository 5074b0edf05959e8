//! Comparisons that hold any text and any number.

use proptest::prelude::*;

use super::*;

/// All kinds of results, also beyond the axis of the drawings, and this text wherever one may be.
pub fn strange(text: &str) -> Comparison {
    let mut c = comparison();
    c.points.extend(shares().points);
    for (p, ratio) in c.points.iter_mut().zip([100.0, 0.01]) {
        let headline = p.headline.as_mut().unwrap();
        headline.value = ratio;
        headline.ratio = Ratio { median: ratio, ci95: Some([0.9 * ratio, 1.1 * ratio]) };
    }
    for side in [&mut c.a, &mut c.b] {
        (side.name, side.machine) = (text.into(), text.into());
        side.price = Some(Price { per_hour: 0.17, currency: text.into() });
    }
    c.sentence = text.into();
    for p in &mut c.points {
        p.best_of_each = Some([text.into(), text.into()]);
        let compared = figure(2.0, [1.9, 2.1], Comparability::Faster);
        p.per_price = Some(PerPrice { figure: FigureKind::Delivered, a: 1e9, b: 2e9, compared });
    }
    for p in &mut c.points {
        (p.workload, p.name, p.reason) = (text.into(), text.into(), text.into());
    }
    (c.differences[0].what, c.differences[0].b) = (text.into(), text.into());
    c
}

#[test]
fn untrusted_text_stays_text() {
    let c = strange("<script>alert(1)</script>\u{1b}[2J\"'&]]>\u{0}");
    let (page, xml) = (html(&c).unwrap(), junit(&c));
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    assert!(!xml.contains("<script>"));
    for text in [page, xml, terminal(&c, true, &wide(80)), check(&c)] {
        assert!(!text.contains(['\u{1b}', '\u{0}']), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_form_panics(
        text in any::<String>(), values in prop::collection::vec(any::<f64>(), 1..9),
        width in 0_usize..200, color in any::<bool>(),
    ) {
        let mut next = values.iter().copied().cycle();
        let mut value = || next.next().unwrap_or(0.0);
        let mut c = strange(&text);
        for p in &mut c.points {
            if let Some(h) = &mut p.headline {
                h.margin = value();
                h.ratio = Ratio { median: value(), ci95: Some([value(), value()]) };
            }
            p.a = number(value(), Verdict::Valid);
        }
        c.subsystems[0].margin = value();
        let _ = (terminal(&c, true, &Options { width, color }), check(&c), json(&c));
        let xml = junit(&c);
        prop_assert!(html(&c).is_ok() && roxmltree::Document::parse(&xml).is_ok(), "{xml}");
    }
}
