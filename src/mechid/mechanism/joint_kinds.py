"""The joint kinds, written down once: how frame b of a joint moves as seen from its frame a.

A kind is a chain of *steps* from frame a to frame b, each with the names of its coordinates. All
that a joint holds, shares, measures, reverses in a mirror or asks of the model file follows from
the steps, by the properties of `JointKind`; both formulations, the exact stages, the file format
and the page loop over these properties and know no kind by its name.

Conventions of the table, checked when a kind is made (a frame can always be chosen so):

- a single turn is about z; of two turns the first is about z of frame a, the second about x of
  frame b; three freedoms of orientation are a ball, the last step;
- slides are along axes of frame a: those across z come before any turn;
- a screw stands alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias

JointType: TypeAlias = str  # a key of JOINT_KINDS; `Joint` rejects others

X, Y, Z = 0, 1, 2
ANGLES = ("roll", "pitch", "yaw")
_QUATERNION = ("w", "x", "y", "z")
_NAMED_QUATERNION = ("qw", "qx", "qy", "qz")  # where x, y, z are displacements

Axes: TypeAlias = tuple[int, ...]
Piece: TypeAlias = tuple[str | float, ...]


@dataclass(frozen=True)
class Step:
    """One elementary motion: along or about an axis of a joint frame, or any turn about a point.

    Attributes
    ----------
    motion : "turn", "slide", "screw" (both, by the pitch of the joint) or "ball" (a quaternion)
    axis : int
        0, 1, 2 for x, y, z; of no meaning for a ball.
    names : tuple of str
        Its coordinates: four for a ball, else one.
    on : int
        0, 1: the axis is fixed in frame a, b.
    """

    motion: Literal["turn", "slide", "screw", "ball"]
    axis: int
    names: tuple[str, ...]
    on: int = 0


def _turn(name: str, axis: int = Z, on: int = 0) -> Step:
    return Step("turn", axis, (name,), on)


def _slide(name: str, axis: int) -> Step:
    return Step("slide", axis, (name,))


def _ball(names: tuple[str, ...]) -> Step:
    return Step("ball", Z, names)


@dataclass(frozen=True)
class JointKind:
    """What the joints of one kind have in common.

    Attributes
    ----------
    letter : str
        Short name.
    steps : tuple of Step
        From frame a to frame b; their coordinates in this order are those of the joint.
    glyph : tuple
        How it is drawn, about its axis, in units of the drawing: ("bar", radius, length), ("ball",
        radius), ("box", three sizes), ("rings", number, distance, radius, thickness).
    icon : str
        What stands in the legend, as SVG in a square of 18.
    """

    letter: str
    steps: tuple[Step, ...]
    glyph: tuple[Piece, ...]
    icon: str

    def __post_init__(self) -> None:
        """Reject steps against the conventions of the table."""
        turning = [s for s in self.steps if s.motion != "slide"]
        first = self.steps.index(turning[0]) if turning else len(self.steps)
        late = [s for s in self.steps[first:] if s.motion == "slide" and s.axis != Z]
        known = ("", "turn z", "turn z, turn x", "ball z", "screw z")
        chain = ", ".join(f"{s.motion} {'xyz'[s.axis]}" for s in turning)
        broken = {
            "turns must be z, or z and x, or one ball": chain not in known,
            "slides across z must come before turns": bool(late),
            "a screw must be the only step": self.thread and len(self.steps) > 1,
            "a ball must be the last step": self.has_orientation
            and self.steps[-1].motion != "ball",
            "the first turn must be fixed in a, the second in b": [s.on for s in turning]
            not in ([], [0], [0, 1]),
        }
        for rule, against in broken.items():
            if against:
                raise ValueError(f"joint kind {self.letter}: {rule}")

    # --------------------------------------------------------------- coordinates

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(name for step in self.steps for name in step.names)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Units of the coordinates: m, rad, or - for components of a quaternion."""
        unit = {"slide": "m", "ball": "-"}
        return tuple(unit.get(step.motion, "rad") for step in self.steps for _ in step.names)

    @cached_property
    def numbered(self) -> tuple[tuple[int, Step], ...]:
        """The steps, each with the number of its first coordinate."""
        counts = [len(step.names) for step in self.steps]
        return tuple((sum(counts[:i]), step) for i, step in enumerate(self.steps))

    @cached_property
    def n_speeds(self) -> int:
        """Degrees of freedom."""
        return sum(3 if step.motion == "ball" else 1 for step in self.steps)

    @property
    def n_constraints(self) -> int:
        """Constraints that the joint puts on the relative motion of its bodies."""
        return 6 - self.n_speeds

    @property
    def has_orientation(self) -> bool:
        """Whether the last coordinates are a quaternion."""
        return any(step.motion == "ball" for step in self.steps)

    @property
    def n_scalars(self) -> int:
        """Coordinates before the quaternion: single numbers, with rates of their own."""
        return len(self.coordinates) - (4 if self.has_orientation else 0)

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """Coordinates that can be independent: an orientation is written as roll, pitch, yaw."""
        return self.coordinates[: self.n_scalars] + (ANGLES if self.has_orientation else ())

    @cached_property
    def choice_units(self) -> tuple[str, ...]:
        """Units of `choices`."""
        return self.units[: self.n_scalars] + (("rad",) * 3 if self.has_orientation else ())

    def step(self, index: int) -> Step:
        """Return the step of one of the `choices`."""
        return self.steps[min(index, len(self.steps) - 1)]

    # --------------------------------------------------------------- motion

    @cached_property
    def slides(self) -> Axes:
        """Axes of frame a along which frame b slides freely."""
        return tuple(sorted(step.axis for step in self.steps if step.motion == "slide"))

    @cached_property
    def n_turns(self) -> int:
        """Freedoms of rotation."""
        return self.n_speeds - len(self.slides)

    @property
    def thread(self) -> bool:
        """Whether a pitch ties the displacement along z to the angle."""
        return any(step.motion == "screw" for step in self.steps)

    @property
    def hinge(self) -> bool:
        """Whether a turn about z is its only freedom."""
        return self.n_speeds == 1 == self.n_turns and not self.thread

    @property
    def guide(self) -> bool:
        """Whether one displacement is its only freedom."""
        return self.n_speeds == 1 == len(self.slides)

    @property
    def axle(self) -> bool:
        """Whether b turns about a line that is fixed in a (and may slide along it)."""
        return self.n_turns == 1 and self.slides in ((), (Z,))

    # --------------------------------------------------------------- what it holds

    @cached_property
    def held_axes(self) -> Axes:
        """Axes of frame a along which the origin of frame b cannot move."""
        moved = (*self.slides, *((Z,) if self.thread else ()))
        return tuple(k for k in (X, Y, Z) if k not in moved)

    @property
    def holds_point(self) -> bool:
        """Whether the two origins coincide: the bodies share a point."""
        return len(self.held_axes) == 3

    @property
    def holds_nothing(self) -> bool:
        """Whether it only measures."""
        return self.n_constraints == 0

    @cached_property
    def held_pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs (axis of frame a, axis of frame b) that stay normal to each other."""
        about_z = ((X, Z), (Y, Z))
        return ((*about_z, (X, Y)), about_z, ((Z, X),), ())[self.n_turns]

    @cached_property
    def aligned(self) -> Axes:
        """Axes that the two frames share: they stay parallel, with their sense."""
        return ((X, Y, Z), (Z,), (), ())[self.n_turns]

    @property
    def crossed(self) -> tuple[int, int] | None:
        """Axis of frame a and axis of frame b that a cross joins at a right angle."""
        return self.held_pairs[0] if self.n_turns == 2 else None

    @cached_property
    def line(self) -> int | None:
        """Axis of frame a along which the origin of frame b moves on a straight line."""
        return Z if self.thread else self.slides[0] if len(self.slides) == 1 else None

    @cached_property
    def normal(self) -> int | None:
        """Normal (axis of frame a) of the plane in which the origin of frame b moves."""
        return self.held_axes[0] if len(self.slides) == 2 else None

    # --------------------------------------------------------------- geometry

    @cached_property
    def axes(self) -> tuple[Axes, Axes]:
        """Axes of frame a and of frame b that mean something; the rest of a frame is arbitrary."""
        along = self.line if self.normal is None else self.normal
        guide = () if along is None else (along,)
        on_a = tuple(dict.fromkeys(((Z,) if self.n_turns in (1, 2) else ()) + guide))
        return on_a, (on_a, (Z,), (X,), ())[self.n_turns]

    @property
    def exact_axes(self) -> tuple[Axes, Axes]:
        """Axes that must be exact numbers: without turns, the whole relative rotation."""
        return self.axes if self.n_turns else ((Z, X), (Z, X))

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Keys that the model file must give; `axis` is z, `zero` is x of the two frames."""
        if self.holds_nothing:
            return ()
        axis = ("axes",) if self.crossed else ("axis",) if self.axes[0] else ()
        slot = ("zero",) if set(self.axes[0]) - {Z} else ()
        return ("at", *axis, *(("pitch",) if self.thread else ()), *slot)

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """Keys that the model file may give."""
        if self.holds_nothing:
            return ("at",)
        return (*self.needs, *(("zero", "limits") if self.axes[0] else ()))

    @cached_property
    def reversed(self) -> tuple[int, ...]:
        """Coordinates that a mirrored joint counts the other way round.

        Frames map by -S where something turns, so that equal angles are mirror images, and by S
        with y reversed where nothing does (NOTATION.md).
        """
        slides = [(i, step.axis) for i, step in self.numbered if step.motion == "slide"]
        return tuple(i for i, axis in slides if self.n_turns or axis == Y)


JOINT_KINDS: Mapping[JointType, JointKind] = MappingProxyType(
    {
        "revolute": JointKind(
            "R",
            (_turn("angle"),),
            (("bar", 0.95, 3), ("rings", 2, 2.7, 0.95, 0.16)),
            '<rect x="5" y="2" width="8" height="14" rx="1.5"/><path d="M9 0v18" class="axis"/>',
        ),
        "prismatic": JointKind(
            "P",
            (_slide("displacement", Z),),
            (("box", 2, 5, 2),),
            '<rect x="3" y="5" width="12" height="8"/><path d="M0 9h18" class="axis"/>',
        ),
        "helical": JointKind(
            "H",
            (Step("screw", Z, ("angle",)),),
            (("bar", 0.75, 5), ("rings", 5, 0.95, 0.8, 0.27)),
            '<path d="M2 12l3-6 2.5 6 3-6 2.5 6 3-6" class="line"/>'
            '<path d="M0 9h18" class="axis"/>',
        ),
        "cylindrical": JointKind(
            "C",
            (_turn("angle"), _slide("displacement", Z)),
            (("bar", 1.05, 5.5),),
            '<rect x="2" y="5" width="14" height="8" rx="4"/><path d="M0 9h18" class="axis"/>',
        ),
        "universal": JointKind(
            "U",
            (_turn("angle_1"), _turn("angle_2", X, on=1)),
            (("bar", 0.5, 3.2), ("ball", 0.62)),
            '<rect x="7.2" y="1.5" width="3.6" height="15" rx="1"/>'
            '<rect x="1.5" y="7.2" width="15" height="3.6" rx="1"/>',
        ),
        "spherical": JointKind(
            "S", (_ball(_QUATERNION),), (("ball", 1.15),), '<circle cx="9" cy="9" r="6"/>'
        ),
        "planar": JointKind(
            "E",
            (_slide("x", X), _slide("y", Y), _turn("angle")),
            (("bar", 2.6, 0.3),),
            '<ellipse cx="9" cy="9" rx="8" ry="3.2"/>',
        ),
        "point_on_line": JointKind(
            "L",
            (_slide("displacement", Z), _ball(_NAMED_QUATERNION)),
            (("bar", 0.4, 6), ("ball", 1.15)),
            '<circle cx="9" cy="9" r="5"/><path d="M0 9h18" class="axis"/>',
        ),
        "point_on_plane": JointKind(
            "N",
            (_slide("x", X), _slide("y", Y), _ball(_NAMED_QUATERNION)),
            (("bar", 2.6, 0.2), ("ball", 1.15)),
            '<circle cx="9" cy="6" r="5"/><path d="M1 13h16" class="line"/>',
        ),
        "fixed": JointKind(
            "X", (), (("box", 1.7, 1.7, 1.7),), '<rect x="4" y="4" width="10" height="10"/>'
        ),
        "free": JointKind(
            "F",
            (_slide("x", X), _slide("y", Y), _slide("z", Z), _ball(_NAMED_QUATERNION)),
            (),
            '<circle cx="9" cy="9" r="5.5" class="line"/>',
        ),
    }
)
