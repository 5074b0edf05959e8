//! Prices of machines in `compare`.

use super::*;

fn on_1_cpu(run: &mut Run) {
    run.host.limits.usable_cpus = vec![0];
}

fn on_2_cpus(run: &mut Run) {
    run.host.limits.usable_cpus = vec![0, 1];
}

#[test]
fn a_price_buys_all_cpus_of_a_machine() {
    let folder = with(&[("a", &[1e9, 2e9], on_2_cpus), ("b", &[0.5e9], on_1_cpu)]);
    let prices = ["--price", "A=$0.20/h", "--price", "B=$0.10"];
    let printed = folder.prints(&[&["compare", "a.json", "b.json"][..], &prices].concat());
    let text = one_line(&printed);
    let sentence = "per unit of money, of the same results, B delivers 0.50 of A's CPU; the CPU \
                    counts differ (2 in A, 1 in B)";
    assert!(text.contains(sentence) && !text.contains("gone:"), "{printed}");
    assert!(text.contains("rates on some of a machine's CPUs are left out, too."), "{printed}");
    let checked = one_line(&checks(&folder, ["b.json", "a.json"], 4));
    assert!(
        checked.contains("the CPU counts differ; all CPUs of each: 2 in A, 1 in B"),
        "{checked}"
    );
    assert!(checked.contains("2 of 2 results fail") && checked.contains("0 gone"), "{checked}");
    checks(&folder, ["a.json", "b.json"], 0);
}

#[test]
fn prices_add_figures_per_unit_of_money() {
    let folder = with(&[("a", &[1e9], as_it_is), ("b", &[0.5e9], as_it_is)]);
    let compare = ["compare", "a.json", "b.json"];
    let printed =
        folder.prints(&[&compare[..], &["--price", "A=$0.40/h", "--price", "B=$0.10"]].concat());
    let sentence = "B delivers 0.50 of A's CPU; per unit of money, of the same results, B delivers \
                    2.0 of A's CPU.";
    assert!(one_line(&printed).contains(sentence), "{printed}");
    let table = printed.split("the figure for 1 $/h.").nth(1).unwrap();
    assert!(table.contains("2.501 GFLOP/s") && table.contains("5.003 GFLOP/s"), "{printed}");
    let json = [&compare[..], &["--price", "0.4", "--price", "0.1", "--format", "json"]].concat();
    let found: Comparison = serde_json::from_str(&folder.prints(&json)).unwrap();
    let money = found.points[0].per_price.as_ref().unwrap();
    assert!((money.compared.value - 2.0).abs() < 0.01, "{money:?}");
    folder.refuses(&[&compare[..], &["--price", "A=0.4"]].concat(), "add --price B=AMOUNT/h");
    folder.refuses(&[&compare[..], &["--price", "A=1,2", "--price", "2"]].concat(), "is no number");
}
