"""``forebay serve``: the workbench, a page that answers while its sliders move."""

import ipaddress
import sys

import click

from forebay.cli import options
from forebay.cli.signals import word
from forebay.packages import check_package

_LEAST_TOKEN = 16


@options.as_command("serve")
def command(
    port: int = options.number(
        "N", 0, 65_535, "Port of the page; 0 takes a free one.", default=8080),
    host: str = options.text(
        "ADDRESS", "Address to serve; other machines reach one that is not loopback, which needs "
        "--token.", default="127.0.0.1"),
    token: str | None = options.text(
        "TEXT", "Secret that a browser must bring once: /?token=TEXT. Also from FOREBAY_TOKEN.",
        envvar="FOREBAY_TOKEN"),
    jobs: int = options.jobs,
) -> int:  # fmt: skip
    """A page on which a link is sized while its sliders move. Ctrl-C ends it.

    The last word of the first line on stdout is the address.
    """
    _check(host, token)
    check_package("the workbench", "starlette", "uvicorn")
    from forebay.web.app import serve

    try:
        serve(host, port, token, jobs, ready=_say)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{word()}; the page is closed") from None
    return 0


def _check(host: str, token: str | None) -> None:
    """Refuse an address that other machines reach without a token, and a short token."""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        wrong = f"{host!r} is no address; write one such as 127.0.0.1"
        raise click.BadParameter(wrong, param_hint="--host") from None
    if token is None and not loopback:
        wrong = f"other machines reach {host}; write --token too, or leave --host out"
        raise click.BadParameter(wrong, param_hint="--host")
    if token is not None and (len(token) < _LEAST_TOKEN or not token.isascii()):
        wrong = f"too short to be a secret; write at least {_LEAST_TOKEN} letters and digits"
        raise click.BadParameter(wrong, param_hint="--token")


def _say(address: str) -> None:
    click.echo(f"forebay workbench: {address}")
    sys.stdout.flush()
