"""A member of a LAG or an ECMP group: what hashing may bring it, of what the group carries.

Each flow goes to one of k members, by a hash of its addresses: independently, and to each with the
chance 1/k. All members get one size, so it must serve the fullest and the emptiest of them.
"""

from dataclasses import dataclass

SURE = 0.95
"""Chance that no member has more, or fewer, than what is sized for."""


@dataclass(frozen=True, slots=True)
class Group:
    """A LAG or an ECMP group.

    Attributes
    ----------
    members : k, at least 2.
    largest_flows : how many flows bring ``largest_share``; 0 without any that matter alone.
    largest_share : the share of the group's load that these bring together.
    """

    members: int
    largest_flows: int = 0
    largest_share: float = 0.0

    def flows(self, low: int, high: int) -> tuple[int, int]:
        """Return between which numbers of flows a member has of ``low`` to ``high`` of the group.

        With the chance `SURE` every member lies between them; at least 1.
        """
        rest = (1.0 - SURE) / (2 * self.members)
        least, most = _quantile(rest, low, self.members), _quantile(1.0 - rest, high, self.members)
        return max(1, least), max(1, most)

    def load(self, mean: float) -> float:
        """Return the load of the fullest member, for that of the group.

        The many small flows are spread evenly. Of the largest, which are alike, the fullest member
        has as many as with the chance `SURE` no member exceeds.
        """
        if not self.largest_flows:
            return mean
        most = _quantile(1.0 - (1.0 - SURE) / self.members, self.largest_flows, self.members)
        own = self.largest_share * most * self.members / self.largest_flows
        return mean * (1.0 - self.largest_share + own)


def _quantile(chance: float, flows: int, members: int) -> int:
    """Return the least number that a binomial variable does not exceed with a chance."""
    from scipy.special import bdtr

    low, high = -1, flows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtr(middle, flows, 1 / members) >= chance else (middle, high)
    return high
