"""The Jacobian of a network's equations by the states of its links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forebay.topology.graph import Floats, Ints


@dataclass(frozen=True, eq=False)
class Slopes:
    """The Jacobian of the residual, as a product with vectors and as a matrix.

    Attributes
    ----------
    paths : shape (hops, paths), links, the number of links beyond the last.
    incidence : sparse, shape (links, paths), 1 where a path crosses a link.
    heard : same shape, the loss events there over the link's loss; ``events`` is the same by hop.
    events, packets : shape (hops, paths), loss events and lost packets over the link's loss;
        ``packets`` is None if losses do not reduce the load of later links.
    passing : shape (hops, paths), a path's share of the load of each of its links.
    elastic : shape (paths,), share of the path's rate that responds to loss and delay.
    by_hazard, by_wait : shape (paths,), d log rate of a path / d hazard, d wait.
    hazard, wait : shape (links,), d hazard, d wait of a link / d s.
    own : shape (links,), d log load / d s of the link's own state.
    """

    paths: Ints
    incidence: Any
    heard: Any
    events: Floats
    packets: Floats | None
    passing: Floats
    elastic: Floats
    by_hazard: Floats
    by_wait: Floats
    hazard: Floats
    wait: Floats
    own: Floats

    def times(self, v: Floats) -> Floats:
        """Return the matrix times a vector, without forming the matrix."""
        n, hazard = len(self.own), self.hazard * v
        change = self.by_hazard * (self.heard.T @ hazard)
        change += self.by_wait * (self.incidence.T @ (self.wait * v))
        change *= self.elastic
        felt, total = np.append(hazard, 0.0), np.zeros(n + 1)
        for hop, row in enumerate(self.paths):
            if self.packets is not None:
                change = change - self.packets[hop] * felt[row]
            total += np.bincount(row, weights=self.passing[hop] * change, minlength=n + 1)
        return total[:n] - self.own * v

    @cached_property
    def by_link(self) -> tuple[Floats, Floats | None]:
        """Return d log(sent rate) / d s and -d log(kept share) / d s, for each link on each path.

        Shapes (hops, paths); 0 beyond the last link. The second is None if no traffic is thinned.
        """
        hazard, wait = np.append(self.hazard, 0.0), np.append(self.wait, 0.0)
        felt = hazard[self.paths]
        answers = self.elastic * (
            self.by_hazard * self.events * felt + self.by_wait * wait[self.paths]
        )
        return answers, None if self.packets is None else self.packets * felt

    def diagonal(self) -> Floats:
        """Return the matrix's diagonal."""
        n, (answers, thinned) = len(self.own), self.by_link
        total = np.zeros(n + 1)
        for hop, (row, passing) in enumerate(zip(self.paths, self.passing, strict=True)):
            each = answers[hop] if thinned is None else answers[hop] - thinned[hop]
            total += np.bincount(row, weights=passing * each, minlength=n + 1)
        return total[:n] - self.own

    def dense(self) -> Floats:
        """Return the matrix, shape (links, links)."""
        n = len(self.own)
        brought = self._sparse(self.passing)
        matrix = (brought @ (self.heard * (self.elastic * self.by_hazard)).T).toarray()
        matrix *= self.hazard
        waiting = self.incidence * (self.elastic * self.by_wait)
        matrix += (brought @ waiting.T).toarray() * self.wait
        if self.packets is not None:
            matrix -= self._thinned(n) * self.hazard
        matrix[np.diag_indices(n)] -= self.own
        return np.asarray(matrix)

    def _thinned(self, n: int) -> Floats:
        """Return the decrease by a link's loss of its own load and the load of later links."""
        assert self.packets is not None, "only for equations with thinning"
        keys, weights = [], []
        for later, row in enumerate(self.paths):
            for hop in range(later + 1):
                keys.append(row * np.int64(n + 1) + self.paths[hop])
                weights.append(self.passing[later] * self.packets[hop])
        sums = np.bincount(np.concatenate(keys), np.concatenate(weights), (n + 1) ** 2)
        return np.asarray(sums.reshape(n + 1, n + 1)[:n, :n], dtype=np.float64)

    def _sparse(self, values: Floats) -> Any:
        from scipy.sparse import csc_array

        crossed = (self.paths < len(self.own)).T
        ends = np.concatenate([[0], np.cumsum(crossed.sum(axis=1))])
        places = (values.T[crossed], self.paths.T[crossed], ends)
        return csc_array(places, shape=self.incidence.shape).tocsr()
