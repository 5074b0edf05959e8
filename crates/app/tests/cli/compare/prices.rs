//! Prices of machines in `compare`.

use super::*;

#[test]
fn prices_add_figures_per_unit_of_money() {
    let folder = with(&[("a", &[1e9], as_it_is), ("b", &[0.5e9], as_it_is)]);
    let compare = ["compare", "a.json", "b.json"];
    let printed =
        folder.prints(&[&compare[..], &["--price", "A=$0.40/h", "--price", "B=$0.10"]].concat());
    let sentence = "B delivers 0.50 of A's CPU; per unit of money B delivers 2.0 of A's CPU.";
    assert!(printed.contains(sentence), "{printed}");
    let table = printed.split("the figure for 1 $/h.").nth(1).unwrap();
    assert!(table.contains("2.501 GFLOP/s") && table.contains("5.003 GFLOP/s"), "{printed}");
    let json = [&compare[..], &["--price", "0.4", "--price", "0.1", "--format", "json"]].concat();
    let found: Comparison = serde_json::from_str(&folder.prints(&json)).unwrap();
    let money = found.points[0].per_price.as_ref().unwrap();
    assert!((money.value - 2.0).abs() < 0.01, "{money:?}");
    folder.refuses(&[&compare[..], &["--price", "A=0.4"]].concat(), "add --price B=AMOUNT/h");
    folder.refuses(&[&compare[..], &["--price", "A=1,2", "--price", "2"]].concat(), "is no number");
}
