//! Endpoints without a model, and the queue with a test handler.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{batch, queue::Queue, *};
use crate::task::HandlerError;
use std::cell::RefCell;

#[derive(Debug, thiserror::Error)]
#[error("no such file")]
struct Broken;

#[derive(Debug, thiserror::Error)]
#[error("cannot load")]
struct Outer(#[source] Broken);

fn mock() -> Endpoint {
    Endpoint::mock(
        &Label::new("bert", DeviceKind::Rocm),
        DeviceKind::Rocm,
        &Outer(Broken),
    )
}

#[test]
fn a_mock_says_so_in_status_and_in_every_answer() {
    let mut endpoint = mock();
    assert!(endpoint.model().is_none() && endpoint.device().is_none());
    let Status::Mock {
        why,
        fallback: None,
    } = endpoint.status().clone()
    else {
        panic!("{endpoint:?}")
    };
    assert!(why.contains("cannot load: no such file"), "{why}");
    assert!(matches!(
        endpoint.handle(Request::texts(["a"])),
        Ok(Response::Mock { .. })
    ));
    let ticket = endpoint.submit(Request::texts(["a"])).unwrap();
    let other = endpoint.submit(Request::texts(["b", "c"])).unwrap();
    let answered = endpoint.process();
    assert_eq!(
        answered
            .iter()
            .map(|answer| answer.ticket)
            .collect::<Vec<_>>(),
        [ticket, other]
    );
    assert!(
        answered
            .iter()
            .all(|answer| matches!(answer.response, Ok(Response::Mock { .. })))
    );
}

#[test]
fn a_mock_of_a_fallback_is_both() {
    let absence = DeviceUnavailable::new(DeviceKind::Rocm, "no libamdhip64");
    let endpoint = mock().into_fallback(DeviceKind::Rocm, &absence);
    assert!(endpoint.status().is_mock() && endpoint.status().is_fallback());
    let why = endpoint.status().why().unwrap();
    assert!(
        why.contains("cannot load") && why.contains("no libamdhip64"),
        "{why}"
    );
}

#[test]
fn a_fallback_names_both_devices_and_the_reason() {
    let status =
        Status::Real.into_fallback(DeviceKind::Rocm, DeviceKind::Cpu, "no library".to_owned());
    assert_eq!(
        status,
        Status::Fallback {
            from: DeviceKind::Rocm,
            to: DeviceKind::Cpu,
            why: "no library".to_owned()
        }
    );
    assert!(status.is_fallback() && !status.is_mock());
}

#[test]
fn the_queue_takes_thirty_two() {
    let mut endpoint = mock();
    for number in 0..32 {
        assert_eq!(
            endpoint.submit(Request::texts(["a"])).unwrap(),
            Ticket(number)
        );
    }
    let full = endpoint.submit(Request::texts(["too much"])).unwrap_err();
    assert_eq!(*full.request, Request::texts(["too much"]));
    assert_eq!(endpoint.process().len(), 32);
    assert_eq!(endpoint.waiting(), 0);
    assert_eq!(endpoint.submit(Request::texts(["a"])).unwrap(), Ticket(32));
}

/// Answers every text with itself as a label, and fails for `bad`.
fn echo(calls: &RefCell<Vec<usize>>) -> impl Fn(Request) -> Result<Response, HandlerError> + '_ {
    |request| {
        calls.borrow_mut().push(request.len());
        let Request::Texts(texts) = request else {
            panic!("texts")
        };
        if texts.iter().any(|text| text == "bad") {
            return Err(HandlerError::NoProcessor {
                task: testgen_types::Task::TextEmbedding,
                needed: "a word",
            });
        }
        Ok(Response::Labels(
            texts
                .into_iter()
                .map(|text| {
                    vec![crate::task::LabelScore {
                        label: text,
                        score: 1.0,
                    }]
                })
                .collect(),
        ))
    }
}

fn answers(requests: Vec<Request>, inputs: usize) -> (Vec<usize>, Vec<Answered>) {
    let (mut queue, calls) = (Queue::default(), RefCell::default());
    requests
        .into_iter()
        .for_each(|request| assert!(queue.push(request).is_ok()));
    let mut answered = Vec::new();
    while let Some(next) = queue.next_batch(inputs) {
        answered.extend(batch::answer(next, &echo(&calls)));
    }
    (calls.into_inner(), answered)
}

fn labels(answer: &Answered) -> Vec<&str> {
    let Ok(Response::Labels(labels)) = &answer.response else {
        panic!("{answer:?}")
    };
    labels.iter().map(|label| label[0].label.as_str()).collect()
}

#[test]
fn requests_are_computed_together_and_answered_apart() {
    let requests = vec![
        Request::texts(["a", "b"]),
        Request::texts(["c"]),
        Request::texts(["d", "e"]),
    ];
    let (calls, answered) = answers(requests, 4);
    assert_eq!(calls, [3, 2]);
    assert_eq!(
        answered.iter().map(labels).collect::<Vec<_>>(),
        [vec!["a", "b"], vec!["c"], vec!["d", "e"]]
    );
}

#[test]
fn a_bad_request_spoils_no_other() {
    let (calls, answered) = answers(vec![Request::texts(["a"]), Request::texts(["bad"])], 8);
    assert_eq!(calls, [2, 1, 1]);
    assert_eq!(labels(&answered[0]), ["a"]);
    assert!(answered[1].response.is_err());
}
