"""Three routers in a row with a demand, as a scenario's text and its answer."""

from pathlib import Path

from forebay.api import networks


def text(**more: object) -> str:
    """Return a chain of three routers with a matrix of 6 and 2."""
    fields = "".join(f"{key} = {value}\n" for key, value in more.items() if key != "traffic")
    traffic = more.get("traffic", 'kind = "short"\nlength = "50 kB"\nload = 1.0')
    counted = "connection_rate" in more or "connection_window" in more or "flows = 50" in str(more)
    size = "1 bdp/sqrt(n)" if counted else "1 bdp"
    return (
        f'[link]\nrate = "100 Mbit/s"\ndelay = "5 ms"\n[queue]\nsize = "{size}"\n[topology]\n'
        'links = [{between = ["A", "B"]}, {between = ["B", "C"]}]\n'
        'demands = [{source = "A", target = "C", weight = 6.0},'
        ' {source = "B", target = "C", weight = 2.0}]\n'
        f"{fields}[[traffic]]\n{traffic}\n"
    )


def answer(tmp_path: Path, **more: object) -> networks.Answer:
    path = tmp_path / "chain.toml"
    path.write_text(text(**more))
    return networks.solve(networks.load(path))
