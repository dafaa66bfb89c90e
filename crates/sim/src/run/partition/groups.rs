//! Links that stay together, shared out to parts.

/// Links in disjoint groups.
pub(super) struct Groups {
    /// Of each link another one of its group, or itself: at the end of each such chain lies the one that
    /// stands for the group.
    towards: Vec<usize>,
}

impl Groups {
    /// So many links, each alone.
    pub(super) fn of(links: usize) -> Self {
        Self { towards: (0..links).collect() }
    }

    /// Makes the groups of two links one.
    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.towards[one.max(other)] = one.min(other);
    }

    /// The link that stands for the group of `link`.
    fn find(&mut self, mut link: usize) -> usize {
        while self.towards[link] != link {
            self.towards[link] = self.towards[self.towards[link]];
            link = self.towards[link];
        }
        link
    }

    /// The part of each link, where the links have so much work each: the largest groups first, each to
    /// the part that has least. And the largest part's work, as a multiple of the mean.
    pub(super) fn share_out(mut self, loads: &[f64], parts: usize) -> (Vec<u8>, f64) {
        let leaders: Vec<usize> = (0..loads.len()).map(|link| self.find(link)).collect();
        let mut work = vec![0.0; loads.len()];
        leaders.iter().zip(loads).for_each(|(&leader, load)| work[leader] += load);
        let mut by_work: Vec<usize> =
            (0..loads.len()).filter(|&link| leaders[link] == link).collect();
        by_work.sort_by(|&one, &other| work[other].total_cmp(&work[one]));
        let (mut part_work, mut part_of) = (vec![0.0; parts], vec![0_u8; loads.len()]);
        for group in by_work {
            let least = place_of_least(&part_work);
            part_work[least] += work[group];
            part_of[group] = least as u8;
        }
        let mean = part_work.iter().sum::<f64>() / parts as f64;
        let most = part_work.iter().copied().fold(0.0, f64::max);
        (leaders.iter().map(|&leader| part_of[leader]).collect(), most / mean)
    }
}

fn place_of_least(work: &[f64]) -> usize {
    let places = 0..work.len();
    places.min_by(|&one, &other| work[one].total_cmp(&work[other])).expect("a part")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_share_the_work() {
        let mut groups = Groups::of(6);
        [(4, 1), (1, 5), (2, 2)].iter().for_each(|&(one, other)| groups.join(one, other));
        let (parts, uneven) = groups.share_out(&[2.0, 1.0, 1.0, 1.0, 1.0, 2.0], 2);
        assert!(parts[1] == parts[4] && parts[4] == parts[5]);
        assert_eq!(uneven, 1.0, "4 and 4");
    }

    #[test]
    fn one_group_may_have_most_of_the_work() {
        let mut groups = Groups::of(4);
        groups.join(0, 1);
        assert_eq!(groups.share_out(&[3.0, 3.0, 1.0, 1.0], 2), (vec![0, 0, 1, 1], 1.5));
    }
}
