"""Writes what is generated into the repository: all of it, or what is named."""

import sys
from importlib import import_module

ALL = ("answers", "control_list", "scenario_inputs", "scenario_reference")

for name in sys.argv[1:] or ALL:  # setup makes the inputs before there is a core to import
    import_module(f"generate.{name}").write()
