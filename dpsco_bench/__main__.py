"""``python -m dpsco_bench``: the command line."""

import sys

from dpsco_bench.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
