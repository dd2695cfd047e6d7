"""Cli: one file per subcommand; the only room that prints, shows progress and sets exit codes.

Not for: anything a Python user would want to call.
"""
