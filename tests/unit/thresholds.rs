use super::Thresholds;

#[test]
fn each_threshold_has_its_own_nodes_and_the_next_is_expected() {
    let thresholds = Thresholds::new(100);
    for (threshold, nodes) in [
        (40, 110),
        (40, 150),
        (42, 170),
        (42, 350),
        (42, 300),
        (44, 400),
    ] {
        thresholds.note(threshold, nodes);
    }
    let nodes = thresholds.nodes();
    assert_eq!(nodes, [(40, 50), (42, 200), (44, 50)]);
    assert_eq!(Thresholds::next(&nodes[..2]), Some((800.0, 4.0)));
    assert_eq!(Thresholds::next(&nodes[..1]), None);
}
