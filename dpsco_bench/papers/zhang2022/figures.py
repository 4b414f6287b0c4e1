"""Names of this paper's options on the axes of figures."""

from dpsco_bench.report.wording import axis_labels

axis_labels(
    __name__,
    "zhang2022",
    {
        "rho": "noise parameter ρ",
        "spread": "gradient noise σ",
        "distance": "distance of the optimum from the start",
        "k": "power k of the weights",
    },
)
