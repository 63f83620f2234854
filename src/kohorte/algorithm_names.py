"""The names of all algorithms, listed once, where reading them loads nothing: `kohorte --help` shows them.

The families check theirs against these when they are imported.
"""

SEARCH_NAMES = (
    "optimal",
    "best_first",
    "flash",
    "flash_depth_first",
    "flash_two_phase",
    "flash_parallel",
    "ola",
    "incognito",
    "incognito_cube",
    "samarati",
    "breadth_first",
    "depth_first",
    "exhaustive",
    "mingen",
    "datafly",
)

RECODER_NAMES = (
    "mondrian",
    "mondrian_relaxed",
    "least_loss",
    "local_recoding",
    "cell_suppression",
    "k_optimize",
    "hill_climbing",
    "mingen_cells",
    "mu_argus",
    "mu_argus_complete",
)

ALGORITHM_NAMES = (*SEARCH_NAMES, *RECODER_NAMES)
