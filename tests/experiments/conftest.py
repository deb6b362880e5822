"""Fake tables lie beside the tests, and processes that tests start must find them too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
