//! What ACKs that backward queues dropped had reported. SACK blocks repeat what earlier ones
//! reported (RFC 2018, section 4), so the next ACK of the flow through the same queue repeats it, and
//! carries it on: an ACK holds the number of an entry here.

use crate::tcp::ack_packet::{NO_LOST_ACKS as NONE, SackRun};

/// An ACK has room for smaller numbers.
const MOST: usize = 1 << 24;

/// What ACKs in the network carry besides their own report.
pub(crate) struct LostAcks {
    /// By number; the first stays empty.
    carried: Vec<Vec<SackRun>>,
    free: Vec<u32>,
}

impl Default for LostAcks {
    fn default() -> Self {
        Self { carried: vec![Vec::new()], free: Vec::new() }
    }
}

impl LostAcks {
    /// What the ACK with entry `number` carries; the number is free again.
    pub(crate) fn take(&mut self, number: u32) -> Vec<SackRun> {
        if number == NONE {
            return Vec::new();
        }
        self.free.push(number);
        std::mem::take(&mut self.carried[number as usize])
    }

    /// An ACK that carries entry `number` takes `runs` along, too. Gives the number of its entry;
    /// where there is none left, the runs stay for the next ACK.
    pub(crate) fn attach(&mut self, number: u32, runs: &mut Vec<SackRun>) -> u32 {
        if runs.is_empty() {
            return number;
        }
        if number != NONE {
            self.carried[number as usize].append(runs);
            return number;
        }
        let Some(number) = self.new_number() else { return NONE };
        self.carried[number as usize] = std::mem::take(runs);
        number
    }

    fn new_number(&mut self) -> Option<u32> {
        if self.free.is_empty() && self.carried.len() < MOST {
            self.free.push(self.carried.len() as u32);
            self.carried.push(Vec::new());
        }
        self.free.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ack_takes_what_was_lost_before_it_and_numbers_come_again() {
        let run = |last| SackRun { last, count: 1 };
        let mut lost = LostAcks::default();
        assert_eq!(lost.attach(NONE, &mut vec![]), NONE, "nothing was lost");
        let first = lost.attach(NONE, &mut vec![run(1), run(2)]);
        let second = lost.attach(NONE, &mut vec![run(3)]);
        assert_ne!(first, second);
        assert_eq!(lost.attach(second, &mut vec![run(4)]), second, "at a second queue");
        assert_eq!(lost.take(first), [run(1), run(2)]);
        assert_eq!(lost.take(second), [run(3), run(4)]);
        assert!([first, second].contains(&lost.attach(NONE, &mut vec![run(5)])));
        assert_eq!(lost.take(NONE), []);
    }
}
