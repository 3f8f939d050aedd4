use super::{BenchEntry, BenchStatus, BenchTimes, Measured, SpeedPlot, plots};
use crate::bench::lines::tests::entry;
use testgen_types::Precision;

/// Forward calls of a batch with so many tokens, each of which takes `milliseconds`.
fn forward(batch: usize, tokens: usize, milliseconds: &[f64]) -> BenchEntry {
    BenchEntry {
        batch: Some(batch),
        tokens: Some(tokens),
        times: BenchTimes::new(milliseconds.to_vec()),
        ..entry()
    }
}

fn titles(plots: &[SpeedPlot]) -> Vec<String> {
    plots.iter().map(|plot| plot.work.to_string()).collect()
}

/// The name of each line, with the size and the rate of its points.
fn lines(plot: &SpeedPlot) -> Vec<(&str, Vec<(usize, f64)>)> {
    let line = |line: &'_ super::SpeedLine| -> Vec<(usize, f64)> {
        let points = line.points.iter();
        points.map(|point| (point.size, point.rate)).collect()
    };
    let lines = plot.lines.iter();
    lines.map(|it| (it.name.as_str(), line(it))).collect()
}

#[test]
fn a_grid_has_a_plot_over_each_size() {
    let grid = [
        forward(8, 128, &[20.0]),
        forward(1, 128, &[4.0]),
        forward(1, 512, &[8.0]),
    ];
    let found = plots(&grid);
    assert_eq!(
        titles(&found),
        [
            "bert: forward over batch, 128 tokens",
            "bert: forward over tokens, batch 1"
        ]
    );
    // 128 tokens in 4 ms, and 1024 in 20 ms.
    assert_eq!(
        lines(&found[0]),
        [(
            "cpu native f32 (AMD EPYC)",
            vec![(1, 32_000.0), (8, 51_200.0)]
        )]
    );
    assert_eq!(found[0].work.unit, "tokens/s");
    assert_eq!(lines(&found[1])[0].1, [(128, 32_000.0), (512, 64_000.0)]);
    assert!(plots(&grid[..1]).is_empty(), "one size is not a line");
}

#[test]
fn devices_engines_and_precisions_have_lines() {
    let torch = |batch| BenchEntry {
        engine: Some("torch/eager".to_owned()),
        ..forward(batch, 128, &[10.0])
    };
    let half = |batch| BenchEntry {
        precision: Precision::Bf16,
        optimised: false,
        ..forward(batch, 128, &[10.0])
    };
    let simulated = |batch| {
        let mut entry = forward(batch, 128, &[10.0]);
        entry
            .device_facts
            .as_mut()
            .expect("it has a device")
            .simulated = true;
        entry
    };
    let entries = [
        torch(1),
        torch(2),
        half(1),
        half(2),
        simulated(1),
        simulated(2),
    ];
    let names: Vec<&str> = plots(&entries)[0]
        .lines
        .iter()
        .map(|line| line.name.as_str())
        .map(|name| match name {
            "cpu native bf16 (AMD EPYC), without optimisation" => "half",
            "cpu native f32 (AMD EPYC, SIMULATED)" => "simulated",
            "cpu torch/eager f32 (AMD EPYC)" => "torch",
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(names, ["half", "simulated", "torch"]);
}

#[test]
fn error_bars_are_of_all_calls_of_a_size() {
    let calls: Vec<f64> = (0..21).map(f64::from).map(|it| 10.0 + it).collect();
    let (first, second) = calls.split_at(10);
    let entries = [
        forward(1, 100, first),
        forward(2, 100, &[10.0]),
        forward(1, 100, second),
    ];
    let point = plots(&entries)[0].lines[0].points[0];
    // 100 tokens in 20, 29 and 11 ms.
    assert_eq!((point.size, point.calls), (1, 21));
    assert!((point.rate - 5000.0).abs() < 1e-6, "{point:?}");
    assert!((point.low - 100.0 / 0.029).abs() < 1e-6, "{point:?}");
    assert!((point.high - 100.0 / 0.011).abs() < 1e-6, "{point:?}");
}

#[test]
fn wrong_work_has_no_point() {
    let sizes = [1, 2, 4].map(|batch| forward(batch, 128, &[10.0]));
    let wrong = BenchEntry {
        status: BenchStatus::Wrong,
        times: None,
        ..forward(2, 128, &[])
    };
    let [first, second, third] = sizes;
    let entries = [first.clone(), second.clone(), third.clone(), wrong.clone()];
    assert_eq!(
        lines(&plots(&entries)[0])[0].1,
        [(1, 12_800.0), (4, 51_200.0)]
    );
    // Without sizes, all work of the subject on that device is wrong.
    let all = BenchEntry {
        measured: None,
        batch: None,
        tokens: None,
        ..wrong
    };
    assert!(plots(&[first, second, third, all]).is_empty());
}

#[test]
fn loads_and_parts_of_a_call_have_no_throughput() {
    let load = |batch| BenchEntry {
        measured: Some(Measured::Load),
        ..forward(batch, 128, &[10.0])
    };
    let call = |batch| BenchEntry {
        measured: Some(Measured::ModelCall),
        ..forward(batch, 128, &[10.0])
    };
    assert!(plots(&[load(1), load(2), call(1), call(2)]).is_empty());
    let decode = |batch| BenchEntry {
        measured: Some(Measured::Decode),
        steps: Some(16),
        ..forward(batch, 128, &[10.0])
    };
    let found = plots(&[decode(1), decode(2)]);
    assert_eq!(
        titles(&found),
        ["bert: decode over batch, 128 tokens, 16 steps"]
    );
    assert_eq!(lines(&found[0])[0].1, [(1, 100.0), (2, 200.0)]);
}
