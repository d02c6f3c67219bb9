"""How to repeat the run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from mechid.modelfile.api import dumps
from mechid.options import to_words
from mechid.report.section import Section
from mechid.runs.record import Run


def section(run: Run) -> Section:
    """Return the section: command line, versions, seed, files and their hashes."""
    about = run.about
    model = hashlib.sha256(dumps(run.mechanism).encode()).hexdigest()
    used = f"model as used, from {about.model or run.mechanism.name}"
    files = [(Path(f.name).name, f.role, f.sha256) for f in about.files]
    values = {
        "command": about.command,
        "seed": about.options.seed,
        "files": [("model.yaml", used, model), *files],
        "versions": about.versions,
        "options": json.dumps(to_words(about.options), indent=2, ensure_ascii=False),
        "stages": run.stages,
        "notes": [(motion.name, note) for motion in run.motions for note in motion.notes],
    }
    return Section("repeat", "How to repeat this run", values)
