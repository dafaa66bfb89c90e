"""Values of a network's file: checked, with the link or router in the message."""

from __future__ import annotations

import math

from forebay.topology.graph import Adjacency, refuse

RATES, DELAYS = (1e3, 1e13), (0.0, 60.0)  # bit/s and seconds, as in a scenario's own links
HOSTS, DEMANDS = (0, 10_000_000), (0.0, 1e18)
LONGEST = 64  # characters of a router's name, as in a scenario's own links
CORE = "core"
"""The class of a file's links."""
_LONGITUDE, _LATITUDE = 360.0, 90.0  # degrees; some count the longitude from 0 to 360
_EARTH_KM = 6371.0
KM_PER_S = 2.0e5  # light in fibre: two thirds of the speed in vacuum


def number_of(name: str, names: dict[str, int], field: str) -> int:
    """Return a router's number. Raises ScenarioError for an unknown one."""
    if name not in names:
        hint = f"write the name of a router, such as {next(iter(names), 'one of links')}"
        raise refuse(f'there is no router "{name[:60]}"', hint, field)
    return names[name]


def named(text: object) -> str:
    """Return a name with single spaces between its words; empty where there is none."""
    name = " ".join(str("" if text is None else text).split())
    if not name.isprintable():
        wrong = f"{name[:60]!r} has a character that cannot be printed"
        raise refuse(wrong, "write letters, digits, signs and spaces", "file")
    return name


def unused(name: str, own: str, taken: set[str]) -> str:
    """Return a name that no other router has, and take it; `own` is the router's id."""
    while name in taken:
        name = f"{name} {own}"
    taken.add(name)
    return name


def in_range(
    value: object, limits: tuple[float, float], what: str, *, whole: bool = False
) -> float | None:
    """Return a number of a file; None where there is none. Raises ScenarioError."""
    if value is None:
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not limits[0] <= number <= limits[1] or (whole and number % 1.0):
        said = " ".join(str(value).split())[:40]
        kind = "a whole number from " if whole else ""
        raise refuse(f'{what} is "{said}"', f"write {kind}{limits[0]:g} to {limits[1]:g}", "file")
    return number


def place(x: object, y: object, name: str) -> tuple[float, float]:
    """Return a position on a map or a drawing; NaN where there is none."""
    return _number(x, name), _number(y, name)


def _number(value: object, name: str) -> float:
    """Return a coordinate; NaN where there is none. Raises ScenarioError."""
    text = "" if value is None else str(value).strip()
    try:
        number = float(text or "nan")
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise refuse(f'a coordinate of "{name}" is "{text[:40]}"', "write a number", "file")
    return number


def light(made: Adjacency, here: int, there: int) -> float | None:
    """Return the delay in seconds along the great circle in fibre; None without both positions."""
    if any(math.isnan(each) for router in (here, there) for each in made.place[router]):
        return None
    for router in (here, there):
        x, y = made.place[router]
        if abs(x) > _LONGITUDE or abs(y) > _LATITUDE:
            wrong = f'"{made.names[router]}" is at longitude {x:g}, latitude {y:g}'
            hint = f"write up to {_LONGITUDE:g} and {_LATITUDE:g} degrees, or the links' delay_s"
            raise refuse(wrong, hint, "file")
    (a, b), (c, d) = (tuple(map(math.radians, made.place[router])) for router in (here, there))
    half = math.sin((d - b) / 2) ** 2 + math.cos(b) * math.cos(d) * math.sin((c - a) / 2) ** 2
    return 2 * _EARTH_KM * math.asin(min(math.sqrt(half), 1.0)) / KM_PER_S
