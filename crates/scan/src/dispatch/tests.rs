use super::*;
use base::Chance;
use std::collections::BTreeMap;

fn parcel(number: u64, bytes: u64) -> Parcel {
    Parcel { number, ..crate::wire::tests::small(bytes) }
}

fn fed(jobs: usize, supply: SupplyMode, documents: u64) -> Dispatch {
    let mut dispatch = Dispatch::new(jobs, supply, 2);
    for number in 0..documents {
        let seat = (supply == SupplyMode::Static).then(|| usize::try_from(number).unwrap() % jobs);
        dispatch.offer(parcel(number, 1_000), seat);
    }
    dispatch.end_feed();
    dispatch
}

fn failure(cause: FailureCause) -> AnalysisFailure {
    AnalysisFailure { cause, what: String::new(), words: String::new() }
}

fn taken(next: Next) -> Vec<u64> {
    match next {
        Next::Take(parcels) => parcels.iter().map(|parcel| parcel.number).collect(),
        Next::Wait | Next::End => Vec::new(),
    }
}

fn is_hopeless(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Hopeless)
}

fn quarantined(outcome: Outcome) -> Vec<u64> {
    match outcome {
        Outcome::Quarantined(parcels) => parcels.iter().map(|parcel| parcel.number).collect(),
        Outcome::Hopeless | Outcome::Barren(_) => panic!("the job goes on"),
    }
}

#[test]
fn until_the_first_answer_one_worker_has_one_document() {
    let mut dispatch = fed(2, SupplyMode::Pipelined, 10);
    assert_eq!(taken(dispatch.next(1)), [0; 0]);
    assert_eq!(taken(dispatch.next(0)), [0]);
    assert_eq!(taken(dispatch.next(0)), [0; 0]);
    dispatch.trust();
    assert!(dispatch.settle(0, 0).is_some());
    assert_eq!((taken(dispatch.next(1)), taken(dispatch.next(0))), (vec![1, 2], vec![3, 4]));
}

#[test]
fn a_program_that_never_answers_is_given_up() {
    let mut silent = fed(2, SupplyMode::Pipelined, 10);
    taken(silent.next(0));
    assert!(is_hopeless(&silent.failed(0, &failure(FailureCause::Hung), &[0])), "at its first document");
    let mut ends = fed(2, SupplyMode::Pipelined, 10);
    for number in 0..2 {
        assert_eq!(taken(ends.next(0)), [number], "another document is tried");
        assert_eq!(quarantined(ends.failed(0, &failure(FailureCause::Ended), &[number])), [0; 0]);
    }
    taken(ends.next(0));
    assert!(is_hopeless(&ends.failed(0, &failure(FailureCause::Ended), &[2])));
    let mut short = fed(1, SupplyMode::Pipelined, 1);
    taken(short.next(0));
    assert!(is_hopeless(&short.failed(0, &failure(FailureCause::Crashed), &[0])), "there is no other");
}

#[test]
fn a_program_that_never_answers_is_given_up_though_no_other_document_can_be_had() {
    let mut full = Dispatch::new(1, SupplyMode::Pipelined, 2);
    full.offer(parcel(0, 1 << 20), None);
    for _ in 0..2 {
        assert_eq!(taken(full.next(0)), [0], "the feeder has no room for another, so it is tried again");
        assert!(!is_hopeless(&full.failed(0, &failure(FailureCause::Ended), &[0])));
    }
    taken(full.next(0));
    assert!(is_hopeless(&full.failed(0, &failure(FailureCause::Ended), &[0])));
    let mut fixed = Dispatch::new(2, SupplyMode::Static, 2);
    fixed.offer(parcel(7, 1), Some(1));
    assert_eq!(taken(fixed.next(0)), [7], "the first to answer may be asked for the other's");
}

#[test]
fn a_first_document_that_kills_is_tried_alone_when_another_was_answered() {
    let mut dispatch = fed(1, SupplyMode::Pipelined, 3);
    taken(dispatch.next(0));
    assert_eq!(quarantined(dispatch.failed(0, &failure(FailureCause::Crashed), &[0])), [0; 0]);
    assert_eq!(taken(dispatch.next(0)), [1]);
    dispatch.trust();
    dispatch.settle(0, 1);
    assert_eq!(taken(dispatch.next(0)), [0]);
}

#[test]
fn the_unanswered_are_tried_alone_and_strikes_count_only_then() {
    let mut dispatch = fed(2, SupplyMode::Pipelined, 6);
    dispatch.trust();
    assert_eq!((taken(dispatch.next(0)), taken(dispatch.next(1))), (vec![0, 1], vec![2, 3]));
    assert_eq!(quarantined(dispatch.failed(0, &failure(FailureCause::Crashed), &[0, 1])), [0; 0]);
    assert_eq!(taken(dispatch.next(0)), [0]);
    assert_eq!(taken(dispatch.next(0)), [0; 0], "alone means alone");
    assert_eq!(
        quarantined(dispatch.failed(0, &failure(FailureCause::Crashed), &[0])),
        [0; 0],
        "the first strike"
    );
    assert_eq!(taken(dispatch.next(0)), [1]);
    assert!(dispatch.settle(0, 1).is_some());
    assert_eq!(taken(dispatch.next(0)), [0]);
    assert_eq!(quarantined(dispatch.failed(0, &failure(FailureCause::Hung), &[0])), [0], "the last strike");
    assert_eq!(taken(dispatch.next(0)), [4, 5]);
}

#[test]
fn what_the_program_was_not_given_yet_stays_with_the_worker() {
    let mut dispatch = fed(1, SupplyMode::Pipelined, 4);
    dispatch.trust();
    assert_eq!(taken(dispatch.next(0)), [0, 1]);
    assert_eq!(quarantined(dispatch.failed(0, &failure(FailureCause::Crashed), &[0])), [0; 0]);
    assert_eq!(taken(dispatch.next(0)), [0; 0], "it has to be empty first");
    assert!(dispatch.settle(0, 1).is_some());
    assert_eq!(taken(dispatch.next(0)), [0]);
}

#[test]
fn a_worker_that_was_killed_from_outside_makes_no_strike() {
    let mut dispatch = fed(1, SupplyMode::Pipelined, 1);
    dispatch.trust();
    for _ in 0..WORKER_DEATHS_MAX {
        assert_eq!(taken(dispatch.next(0)), [0]);
        assert_eq!(quarantined(dispatch.ended(0, false)), [0; 0]);
    }
    assert_eq!(taken(dispatch.next(0)), [0]);
    assert_eq!(quarantined(dispatch.ended(0, false)), [0], "but not without end");
    assert!(dispatch.is_done());
}

#[test]
fn a_worker_that_was_killed_before_the_first_answer_is_no_fault_of_the_program() {
    let mut dispatch = fed(1, SupplyMode::Pipelined, 1);
    for _ in 1..WORKER_DEATHS_MAX {
        assert_eq!(taken(dispatch.next(0)), [0]);
        assert_eq!(quarantined(dispatch.ended(0, false)), [0; 0]);
    }
    assert_eq!(quarantined(dispatch.ended(0, false)), [0; 0], "it had nothing in hand");
    assert_eq!(taken(dispatch.next(0)), [0]);
    assert_eq!(quarantined(dispatch.ended(0, false)), [0]);
}

/// Quarantines documents until the job fails; returns their number.
fn set_aside_in_a_row(dispatch: &mut Dispatch) -> usize {
    let mut count = 0;
    loop {
        let numbers = taken(dispatch.next(0));
        assert!(!numbers.is_empty(), "it is not given up");
        match dispatch.failed(0, &failure(FailureCause::Ended), &numbers) {
            Outcome::Quarantined(parcels) => count += parcels.len(),
            Outcome::Barren(parcels) => return count + parcels.len(),
            Outcome::Hopeless => panic!("it has answered"),
        }
    }
}

#[test]
fn a_program_that_answers_nothing_any_more_is_given_up() {
    let mut dispatch = fed(1, SupplyMode::Synchronous, 3_000);
    dispatch.trust();
    assert_eq!(taken(dispatch.next(0)), [0]);
    dispatch.settle(0, 0);
    dispatch.pace(0, 1, Duration::ZERO);
    assert_eq!(set_aside_in_a_row(&mut dispatch), BARREN_MAX as usize);
    assert!(!dispatch.is_done(), "the others wait for a program that works");
}

#[test]
fn each_way_of_supply_is_what_it_says() {
    let mut one_by_one = fed(2, SupplyMode::Synchronous, 4);
    one_by_one.trust();
    assert_eq!((taken(one_by_one.next(0)), taken(one_by_one.next(0))), (vec![0], vec![]));
    let mut fixed = fed(2, SupplyMode::Static, 4);
    fixed.trust();
    assert_eq!((taken(fixed.next(0)), taken(fixed.next(1))), (vec![0, 2], vec![1, 3]));
    (0..2).for_each(|number| drop(fixed.settle(0, 2 * number)));
    assert_eq!(taken(fixed.next(0)), [0; 0], "what is left belongs to the other");
}

#[test]
fn what_is_held_is_bounded_and_one_always_fits() {
    let mut dispatch = Dispatch::new(1, SupplyMode::Pipelined, 2);
    assert!(dispatch.has_room(10, 10));
    dispatch.offer(parcel(0, 1 << 20), None);
    assert!(!dispatch.has_room(10, 10));
    dispatch.trust();
    taken(dispatch.next(0));
    assert!(!dispatch.has_room(10, 10), "it is held until its result is in");
    dispatch.settle(0, 0);
    assert!(dispatch.has_room(10, 10));
}

/// Documents, some of which kill their worker, and workers that die by chance: every document is settled once, and
/// exactly the killers are quarantined.
#[test]
fn model_every_document_is_settled_once_whatever_dies() {
    for seed in 0..300 {
        let mut chance = Chance::new(seed);
        let supply = SupplyMode::ALL[usize::try_from(chance.below(3)).unwrap()];
        let jobs = 1 + usize::try_from(chance.below(4)).unwrap();
        let documents = 1 + chance.below(120);
        let mut dispatch = fed(jobs, supply, documents);
        dispatch.trust();
        let is_killer = |number: u64| number % 7 == seed % 7 && seed % 3 > 0;
        let mut with: Vec<VecDeque<u64>> = vec![VecDeque::new(); jobs];
        let mut settled: BTreeMap<u64, bool> = BTreeMap::new();
        let mut settle =
            |number, is_aside| assert!(settled.insert(number, is_aside).is_none(), "{number} twice");
        let mut steps = 0;
        while !dispatch.is_done() {
            steps += 1;
            assert!(steps < 100_000, "seed {seed}: it does not end");
            let seat = usize::try_from(chance.below(jobs as u64)).unwrap();
            with[seat].extend(taken(dispatch.next(seat)));
            let Some(first) = with[seat].front().copied() else { continue };
            if chance.below(50) == 0 {
                with[seat].clear();
                quarantined(dispatch.ended(seat, false)).into_iter().for_each(|number| settle(number, true));
            } else if is_killer(first) {
                // The program was given some of what the worker has.
                let given = 1 + usize::try_from(chance.below(with[seat].len() as u64)).unwrap();
                let suspects: Vec<u64> = with[seat].drain(..given).collect();
                let outcome = dispatch.failed(seat, &failure(FailureCause::Crashed), &suspects);
                quarantined(outcome).into_iter().for_each(|number| settle(number, true));
            } else {
                with[seat].pop_front();
                assert_eq!(dispatch.settle(seat, first).map(|parcel| parcel.number), Some(first));
                settle(first, false);
            }
        }
        assert_eq!(settled.len() as u64, documents, "seed {seed}");
        for (number, is_aside) in settled {
            assert_eq!(is_aside, is_killer(number), "seed {seed}: {number}");
        }
    }
}
