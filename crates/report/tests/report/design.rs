//! What was measured and how, in sentences.

use proofmark_report::view::View;

use super::fixture;

#[test]
fn the_design_says_what_was_measured_and_how() {
    let view = View::from_run(&fixture::published());
    let of = |title: &str| view.design.iter().find(|d| d.title == title).unwrap();
    let cpu = of("CPU").sentences.join(" ");
    for said in [
        "5 workloads, 28 measured configurations: threads 1, 2 and 4.",
        "Each configuration has 3 trials, each planned for",
        "Strong scaling: the iterations of cpu.mix.float and cpu.mix.int are divided",
        "1 configuration sampled over time, for 10 min every 1.0 s.",
        "Independent verification of the work: checked arithmetic (27 configurations).",
        "Reference tools that ran the same work: hpl 2.3 (4 configurations).",
    ] {
        assert!(cpu.contains(said), "{said}: {cpu}");
    }
    let disk = of("Disk").sentences.join(" ");
    assert!(disk.contains("file size 16 MiB, 128 MiB and 1 GiB"), "{disk}");
    let network = of("Network").sentences.join(" ");
    assert!(network.contains("30 configurations over loopback (no network), 30 to another"));
    let loopback = View::from_run(&fixture::loopback()).design;
    assert!(loopback[0].sentences.join(" ").contains("All over loopback"));
    assert_eq!(
        of("CPU").workloads[0],
        "Floating-point peak (cpu.flops): A workload of the fixture; no machine ran it."
    );
}

#[test]
fn points_that_were_not_measured_are_told() {
    let mut run = fixture::run();
    run.measurements.truncate(3);
    let said = View::from_run(&run).design[0].sentences[0].clone();
    assert!(said.starts_with("5 workloads, 3 measured configurations of 24 planned"), "{said}");
}

#[test]
fn a_trial_of_fixed_work_has_no_length_that_was_asked_for() {
    let run = fixture::published();
    let cpu = View::from_run(&run).design[0].sentences.join(" ");
    let fixed =
        "those of cpu.linpack, cpu.mix.float and cpu.mix.int last as long as their work takes.";
    assert!(cpu.contains("each planned for 100.0 ms or more; ") && cpu.contains(fixed), "{cpu}");
    let mut run = run;
    run.measurements.retain(|m| m.workload == "cpu.linpack");
    run.plan.points.retain(|p| p.workload == "cpu.linpack");
    run.plan.series.clear();
    let cpu = View::from_run(&run).design[0].sentences.join(" ");
    assert!(!cpu.contains("planned for"), "{cpu}");
    let sampled = View::from_run(&fixture::endured()).design[0].sentences.join(" ");
    assert!(!sampled.contains("planned for"), "{sampled}");
}
