"""What can be wrong with the name of an artefact, or with one that another package offers."""

from __future__ import annotations


class UnknownArtefact(ValueError):
    """No artefact or paper has this name."""

    code = "no-such-artefact"
    exit_status = 2


class ArtefactUnavailable(RuntimeError):
    """An entry point names an artefact that cannot be loaded."""

    code = "artefact-unavailable"
    exit_status = 3
