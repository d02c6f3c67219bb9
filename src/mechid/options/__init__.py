"""Options of the steps of the method: the same words and defaults in Python, commands and files.

Nothing here loads the numeric packages, so that the command line shows its help at once.
"""

from mechid.options.excite import ExciteOptions
from mechid.options.identify import IdentifyOptions
from mechid.options.importing import ImportOptions
from mechid.options.noise import Level, NoiseLevels
from mechid.options.reduce import ReduceOptions
from mechid.options.synthesise import SynthesiseOptions
from mechid.options.weighing import Weighing
from mechid.options.words import changed, from_words, option_value, step_options, to_words

__all__ = [
    "ExciteOptions",
    "IdentifyOptions",
    "ImportOptions",
    "Level",
    "NoiseLevels",
    "ReduceOptions",
    "SynthesiseOptions",
    "Weighing",
    "changed",
    "from_words",
    "option_value",
    "step_options",
    "to_words",
]
