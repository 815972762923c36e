"""Failures a user can cause or meet, told as what, where, why and the next command."""


class LabError(Exception):
    """A failure with everything the user needs to go on.

    Args:
        what: What failed, one line.
        where: File, stage or component it failed in.
        why: The cause as far as it is known.
        fix: The next command or change.
    """

    def __init__(self, what: str, *, where: str, why: str, fix: str) -> None:
        self.what, self.where, self.why, self.fix = what, where, why, fix
        super().__init__(f"{what}\n  where: {where}\n  why:   {why}\n  next:  {fix}")
