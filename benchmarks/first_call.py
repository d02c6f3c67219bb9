"""What a fresh process pays before its first result; prints one line of JSON.

`kinematics.py` runs this file in a process of its own, with an empty and with a filled cache.
"""

from __future__ import annotations

import json
from time import perf_counter

MARK = perf_counter()


def lap() -> float:
    """Return the time since the last call (s)."""
    global MARK
    before, MARK = MARK, perf_counter()
    return MARK - before


def main() -> None:
    """Time the stages up to sensitivities, then every model of the zoo."""
    from cases import path, reachable_path
    from numba.core.event import install_recorder

    from mechid.kinematics.model import kinematic_model, model_of_geometry
    from mechid.kinematics.sensitivities import sensitivities
    from mechid.modelfile import load, zoo_names

    stages = {"import": lap()}
    with install_recorder("numba:compile") as compilations:
        mechanism = load("sla_suspension")
        stages["load the model file"] = lap()
        model = kinematic_model(mechanism)
        stages["kinematic_model"] = lap()
        motion = path(model, 10).solve(model)
        stages["solve_motion, 10 samples"] = lap()
        motion.bodies()
        stages["bodies"] = lap()
        sensitivities(motion)
        stages["sensitivities"] = lap()
    own = kernels(compilations)
    kinematic_model.cache_clear()
    model_of_geometry.cache_clear()
    zoo = {}
    for name in zoo_names():
        with install_recorder("numba:compile") as compilations:
            lap()
            mechanism = load(name)
            loading = lap()
            model = kinematic_model(mechanism)
            preparing = lap()
            reachable_path(model, 10)
            solving = lap()
        zoo[name] = {
            "load": loading,
            "model": preparing,
            "solve": solving,
            "compiled": kernels(compilations),
        }
    print(json.dumps({"stages": stages, "compiled": own, "zoo": zoo}))


def kernels(recorder) -> list[str]:
    """Return the kernels of mechid that were compiled; one from the cache is not."""
    functions = [event.data["dispatcher"].py_func for _, event in recorder.buffer if event.is_start]
    return sorted({f.__name__ for f in functions if (f.__module__ or "").startswith("mechid")})


if __name__ == "__main__":
    main()
