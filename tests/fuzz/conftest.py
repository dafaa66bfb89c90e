"""Files here import each other by name, whatever pytest's way of importing tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
