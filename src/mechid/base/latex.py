"""The base parameters as a LaTeX table."""

from __future__ import annotations

from mechid.base.baseset import BaseSet
from mechid.base.expressions import latex, latex_name

# Inline formulas in a paragraph column: long sums are broken between their terms.
_HEAD = r"""% {count} base parameters of {model}; needs the packages amsmath, array and longtable
\begin{{longtable}}{{rl>{{\raggedright\arraybackslash}}p{{0.72\linewidth}}}}
\hline
 & base parameter & is \\
\hline
\endhead
"""


def latex_table(chosen: BaseSet) -> str:
    """Return a table with a numbered row per base parameter, to be included in a document."""
    rows = [
        rf"{i} & ${latex_name(name)}$ & ${latex(chosen, name)}$ \\"
        for i, name in enumerate(chosen.base, start=1)
    ]
    model = chosen.null_space.geometry.mechanism.name
    head = _HEAD.format(count=chosen.rank, model=" ".join(model.split()))
    return head + "\n".join(rows) + "\n\\hline\n\\end{longtable}\n"
