"""The program: ``python -m tilewave`` and the command ``tilewave``."""

import signal
import sys

from ._tilewave import _main


def main() -> int:
    """Runs the command line and returns its exit code."""
    # The program listens for Ctrl-C itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _main(["tilewave", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
