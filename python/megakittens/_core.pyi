"""
The compiled part of megakittens; use the names that the package megakittens exports.
"""



def version() -> str:
    """The library's version, as 'major.minor.patch'."""

class Error(RuntimeError):
    pass

class UserError(Error):
    pass

class UnsupportedError(UserError):
    pass

class FormatError(UserError):
    pass

class CapacityError(UserError):
    pass

class OptionError(UserError):
    pass

class ExecutionError(Error):
    pass

class InternalError(Error):
    pass
