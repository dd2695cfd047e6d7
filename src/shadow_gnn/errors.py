"""The project's error classes.

Not for: a caller's wrong argument, which is a plain ValueError or TypeError where the value is used.
"""


class ShadowError(Exception):
    """A fault that the user can act on; the command line shows it as one line and exits 2."""


class SourceError(ShadowError):
    """A file that was given as input is not what it should be; the text names the file and the fault."""


class FolderError(ShadowError):
    """A graph folder is damaged, incomplete, changed while open, or of an unknown version."""


class WriteError(ShadowError):
    """A result could not be written; what was there before is still there."""
