use super::{chunks, lengths};

#[test]
fn chunks_read_the_whole_text() {
    for length in [1, 2, 4, 5, 8, 64, 129, 16384] {
        let steps = chunks(length);
        assert_eq!(steps.iter().sum::<usize>(), length, "{length}: {steps:?}");
        assert!(!steps.contains(&0), "{length}: {steps:?}");
    }
    assert_eq!(chunks(16384)[0], 1021);
    assert_eq!(chunks(64), [vec![3; 20], vec![1; 4]].concat());
}

#[test]
fn lengths_are_around_powers_of_two_and_below_the_longest() {
    assert_eq!(lengths(128), [31, 32, 33, 48, 63, 64, 65, 96, 127]);
    assert_eq!(lengths(20), [19]);
    let long = lengths(16384);
    assert!(long.is_sorted() && long.contains(&8193) && long.contains(&12288));
    assert_eq!(long.last(), Some(&16383));
}

#[test]
fn lengths_are_around_multiples_of_tiles_within_a_limit_of_any_kind() {
    let within = lengths(1000);
    for multiple in [3 * 64, 5 * 64, 3 * 128, 5 * 128, 3 * 256] {
        for length in [multiple - 1, multiple, multiple + 1] {
            assert!(within.contains(&length), "{length}: {within:?}");
        }
    }
    assert_eq!(within[within.len() - 2..], [961, 999], "15 tiles and one");
    assert!(within.is_sorted_by(|one, other| one < other));
}
