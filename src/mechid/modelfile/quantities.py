"""Numbers of a model file by their SI unit."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from mechid.textfile.words import Quantity, three

Length: TypeAlias = Annotated[Any, Quantity("m")]
Angle: TypeAlias = Annotated[Any, Quantity("rad")]
Time: TypeAlias = Annotated[Any, Quantity("s")]
Mass: TypeAlias = Annotated[Any, Quantity("kg")]
Inertia: TypeAlias = Annotated[Any, Quantity("kg m²")]
Acceleration: TypeAlias = Annotated[Any, Quantity("m/s²")]
Lengths: TypeAlias = Annotated[tuple[Length, Length, Length], three]
Angles: TypeAlias = Annotated[tuple[Angle, Angle, Angle], three]
Accelerations: TypeAlias = Annotated[tuple[Acceleration, Acceleration, Acceleration], three]
LengthSpread: TypeAlias = Annotated[Any, Quantity("m", spread=True)]
MassSpread: TypeAlias = Annotated[Any, Quantity("kg", spread=True)]
InertiaSpread: TypeAlias = Annotated[Any, Quantity("kg m²", spread=True)]
