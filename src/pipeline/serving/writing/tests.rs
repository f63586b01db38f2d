//! What a server is told of its changes, with a process that is only played: a shell script that
//! says what a process that writes would say.

use super::*;
use crate::serve::{Change, GraphWrite};
use oxrdf::NamedNode;
use std::time::Duration;
use tempfile::TempDir;

/// A writer whose process runs `script` for each line that begins an order. The script knows the
/// number of the order, `$n`, and how many processes there were, `$runs`; `tell STAGE` is a notice.
fn writer(folder: &TempDir, patience: Duration, script: &str) -> Writer {
    let count = folder.path().join("runs");
    let whole = format!(
        "echo run >> {count}; runs=$(wc -l < {count})\n\
         tell() {{ echo \"{{\\\"number\\\":$n,\\\"stage\\\":$1}}\"; }}\n\
         while read -r line; do n=${{line#*:}}; n=${{n%%,*}}\n{script}\ndone\n",
        count = count.display()
    );
    Writer::new("/bin/sh".into(), vec!["-c".into(), whole.into()], patience).unwrap()
}

fn runs(folder: &TempDir) -> usize {
    std::fs::read_to_string(folder.path().join("runs")).unwrap_or_default().lines().count()
}

/// A change that is told in one line.
async fn change(writer: &Writer) -> Result<Written, Refusal> {
    let graph = NamedNode::new_unchecked("https://c.example/g").into();
    writer.run(Job::Graph(GraphWrite { graph, change: Change::Remove }), Holder::anonymous()).await
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_change_that_is_evaluated_for_too_long_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"tell '"Evaluating"'; [ $runs = 1 ] && exec sleep 60; tell '{"Done":{"Ok":"Changed"}}'"#;
    let writer = writer(&folder, Duration::from_millis(200), script);
    let Err(Refusal::Stopped(message)) = change(&writer).await else { panic!("it was not stopped") };
    assert!(message.contains("nothing was changed") && message.contains("longer"), "{message}");
    assert_eq!(change(&writer).await, Ok(Written::Changed));
}

#[tokio::test]
async fn a_change_that_is_archived_may_take_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"tell '"Evaluating"'; tell '"Archiving"'; sleep 1; tell '"Kept"'; sleep 1
        tell '{"Done":{"Ok":"Created"}}'"#;
    let writer = writer(&folder, Duration::from_millis(500), script);
    assert_eq!(change(&writer).await, Ok(Written::Created));
    assert_eq!(runs(&folder), 1);
}

/// An archived change whose process ends is shown by a later one, however many of them end first.
#[tokio::test]
async fn what_is_archived_is_shown_however_often_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"[ $runs -gt 4 ] && tell '{"Done":{"Ok":"Changed"}}' && continue
        [ $runs = 1 ] && tell '"Kept"'; exit 1"#;
    let writer = writer(&folder, LONG, script);
    // It is certain to be there, and nobody knows when it will be seen.
    assert_eq!(change(&writer).await, Ok(Written::Accepted));
    for _ in 0..200 {
        if runs(&folder) > 4 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it was given up after {} processes", runs(&folder));
}

/// Changes that wait behind one that ends its process are carried out by the next.
#[tokio::test]
async fn changes_that_end_their_process_harm_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"tell '"Evaluating"'; [ $n -lt 4 ] && exit 1; tell '{"Done":{"Ok":"Changed"}}'"#;
    let writer = writer(&folder, LONG, script);
    let (one, two, three, four) =
        tokio::join!(change(&writer), change(&writer), change(&writer), change(&writer));
    for stopped in [one, two, three] {
        assert!(matches!(stopped, Err(Refusal::Stopped(_))), "{stopped:?}");
    }
    assert_eq!(four, Ok(Written::Changed));
}

#[tokio::test]
async fn nobody_knows_of_a_change_whose_process_ends_while_it_is_archived() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"[ $runs -gt 1 ] && tell '{"Done":{"Ok":"Changed"}}' && continue
        tell '"Evaluating"'; tell '"Archiving"'; exit 1"#;
    let writer = writer(&folder, LONG, script);
    let Err(Refusal::Unavailable { message, .. }) = change(&writer).await else { panic!("it was told") };
    assert!(message.contains("not known"), "{message}");
}
