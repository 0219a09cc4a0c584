"""What all tests need."""

import signal

# Where a shell runs the tests in the background, Ctrl-C is ignored, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
