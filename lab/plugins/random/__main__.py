"""Started by the launcher with its own path, then what the engine gave."""

import sys

from lab.plugins.random.table import RANDOM
from lab.plugins.server import main

if __name__ == "__main__":
    main(RANDOM, sys.argv[1:])
