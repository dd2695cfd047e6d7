"""The fault campaign: `python -m tests.faults` kills, starves and misleads commands, and counts the faults."""
