"""`python -m tests.fuzz`."""

from tests.fuzz.run import main

main()
