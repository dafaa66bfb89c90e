//! The next dequeue of the one link that chooses what to send when its wire is free.
//!
//! It is known beside the event queue: to compare with it costs an event less than a dequeue in the
//! queue costs. Dequeues come first of what happens at an instant (`event_key`), in the queue or beside it.

use crate::config::Config;
use crate::time::{NEVER, Picos};

/// When that link takes the next packet off its queue.
pub(crate) struct SoleDequeue {
    /// `None` where there is no such link, or more than one.
    link: Option<usize>,
    /// `NEVER` where it need not be asked.
    pub(crate) at: Picos,
}

impl SoleDequeue {
    pub(crate) fn of(config: &Config) -> Self {
        let mut choosing =
            (0..).zip(&config.links).filter(|(_, link)| link.queue.decides_at_dequeue());
        let link = choosing.next().map(|(index, _)| index);
        Self { link: link.filter(|_| choosing.next().is_none()), at: NEVER }
    }

    /// Whether there is one.
    pub(crate) fn exists(&self) -> bool {
        self.link.is_some()
    }

    /// `link` is to be asked at `at`: false where that needs an event.
    #[inline]
    pub(crate) fn arm(&mut self, link: usize, at: Picos) -> bool {
        let is_sole = self.link == Some(link);
        if is_sole {
            self.at = at;
        }
        is_sole
    }

    /// The link and the time, if it is to be asked; it then is no longer.
    #[inline]
    pub(crate) fn fire(&mut self) -> Option<(usize, Picos)> {
        let at = std::mem::replace(&mut self.at, NEVER);
        self.link.filter(|_| at != NEVER).map(|link| (link, at))
    }
}
