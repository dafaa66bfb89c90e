"""Errors of artefacts' names, and of artefacts of other packages."""

from __future__ import annotations

from forebay.errors import ForebayError


class UnknownArtefact(ForebayError):
    """No artefact or paper has this name."""

    code = "no-such-artefact"
    exit_status = 2


class ArtefactUnavailable(ForebayError):
    """An entry point names an artefact that cannot be loaded."""

    code = "artefact-unavailable"
    exit_status = 3
