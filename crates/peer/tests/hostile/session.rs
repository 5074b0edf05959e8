//! A session in progress that attacks must not disturb.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use proofmark_peer::{Channel, ControlSession, Invitation};
use proofmark_testing::{join, wait_until};
use serde_json::json;

use crate::common::{ServerSide, echoes};

/// Session that echoes without pause, and whose worker joins repeatedly.
pub struct Session {
    pub control: ControlSession,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    echoes: Arc<AtomicU64>,
    joins: Arc<AtomicU64>,
}

impl Session {
    pub fn begin(server: &ServerSide) -> Self {
        let control = server.control();
        let (echoes, joins, over) = <(Arc<_>, Arc<_>, Arc<_>)>::default();
        let threads = vec![
            repeat(&over, &echoes, steady(control.invitation())),
            repeat(&over, &joins, returning(control.invitation())),
        ];
        Self { control, over, threads, echoes, joins }
    }

    /// Panics unless echoes and joins started during the attack and all succeeded.
    pub fn undisturbed(self, begin: Instant) {
        // Run it for at least a second.
        sleep(Duration::from_secs(1).saturating_sub(begin.elapsed()));
        assert_eq!(self.control.ended(), None);
        // A join takes seconds on a busy machine.
        wait_until("100 echoes and 2 joins, or the end of their threads", || {
            let count = |n: &AtomicU64| n.load(Ordering::SeqCst);
            let ended = self.threads.iter().any(JoinHandle::is_finished);
            ended || count(&self.echoes) > 100 && count(&self.joins) > 1
        });
        self.over.store(true, Ordering::SeqCst);
        for thread in self.threads {
            join("the session's thread to end", thread);
        }
    }
}

pub fn repeat(
    over: &Arc<AtomicBool>,
    count: &Arc<AtomicU64>,
    mut work: impl FnMut() + Send + 'static,
) -> JoinHandle<()> {
    let (over, count) = (Arc::clone(over), Arc::clone(count));
    thread::spawn(move || {
        while !over.load(Ordering::SeqCst) {
            work();
            count.fetch_add(1, Ordering::SeqCst);
        }
    })
}

pub fn steady(invitation: Invitation) -> impl FnMut() {
    let mut channel = Channel::join(&invitation).unwrap();
    let stream = channel.open(&json!({ "streams": 1 })).unwrap();
    let mut data = channel.data(&stream[0]).unwrap();
    move || {
        // Hold the channel: its end would end the job.
        let _ = &channel;
        echoes(&mut data, &[5; 1000]);
    }
}

pub fn returning(invitation: Invitation) -> impl FnMut() {
    move || {
        let mut channel = Channel::join(&invitation).unwrap();
        let streams = channel.open(&json!({ "streams": 2 })).unwrap();
        for stream in &streams {
            echoes(&mut channel.data(stream).unwrap(), b"mine");
        }
        sleep(Duration::from_millis(20));
    }
}
