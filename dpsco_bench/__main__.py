"""``python -m dpsco_bench``: the command line."""

import sys


def _code() -> int:
    if sys.argv[1:2] == ["worker"]:
        from dpsco_bench.cli.forking import asked

        code = asked(sys.argv[1:])
        if code is not None:
            return code
    from dpsco_bench.cli.main import main

    return main()


if __name__ == "__main__":
    sys.exit(_code())
