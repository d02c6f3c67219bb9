"""Errors that a user can act on: what is wrong, where, and what to do."""

from __future__ import annotations

_LONGEST = 1500  # characters of a message


class MechidError(Exception):
    """Base of every error that mechid raises on purpose.

    Parameters
    ----------
    what : str
        What is wrong, in one clause.
    where : str
        File, line, element, time sample: whatever leads to the place. Callers that know more
        (the file, the line) add it with `located`.
    remedy : str
        What the user can do about it.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        """Return the one line that a user reads: where, what, remedy.

        Without the middle, where it repeats a huge input, and without characters that a terminal
        would obey.
        """
        head = f"{self.where}: {self.what}" if self.where else self.what
        line = f"{head}; {self.remedy}" if self.remedy else head
        if len(line) > _LONGEST:
            line = f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}"
        if line.isprintable():
            return line
        line = " ".join(line.split())
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with all attributes, so that errors cross processes whole."""
        return (type(self)._rebuild, (self.what, self.where, self.remedy, self.__dict__))

    @classmethod
    def _rebuild(cls, what: str, where: str, remedy: str, state: dict[str, object]) -> MechidError:
        error = cls.__new__(cls)
        MechidError.__init__(error, what, where=where, remedy=remedy)
        error.__dict__.update(state)
        return error

    def located(self, where: str) -> MechidError:
        """Return the same error with an outer place put before its own."""
        outer = f"{where}: {self.where}" if self.where else where
        return self._rebuild(self.what, outer, self.remedy, {**self.__dict__, "where": outer})


class ModelError(MechidError):
    """A mechanism that is described wrongly; `path` leads to the entry of the model file."""

    def __init__(
        self, what: str, *, path: tuple[str | int, ...] = (), where: str = "", remedy: str = ""
    ) -> None:
        self.path = path
        super().__init__(what, where=where or ".".join(map(str, path)), remedy=remedy)


class DataError(MechidError):
    """A table of measurements or motions that cannot be used."""


class KinematicsError(MechidError):
    """A motion that the mechanism cannot perform, at a sample (and a time, if known)."""

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        remedy: str = "",
        sample: int | None = None,
        time: float | None = None,
    ) -> None:
        self.sample = sample
        self.time = time
        super().__init__(what, where=where, remedy=remedy)


class AssemblyError(KinematicsError):
    """The loops cannot be closed from the given start."""


class UnreachablePoseError(KinematicsError):
    """No pose has these independent coordinates."""


class SingularPoseError(KinematicsError):
    """The independent coordinates do not determine the velocities in this pose."""


class BranchJumpError(KinematicsError):
    """The motion would have to leap to another assembly branch between two samples."""
