"""Rank methods at equal accounted (epsilon, delta).

* `board`: a file says methods and instances; each method on an instance is a job of kind ``ranking``, which is run and
  stored like every other job.
* `standings`: the cells of these jobs become a row for each point, with risks, intervals, ties and the winner.
* `choose`: a board of one point, for the methods that fit into a limit of time.
* `tables`, `phases`: what pages and figures show of the standings.
"""

import sys

from dpsco_bench import Verb

sys.modules[__name__].__class__ = Verb
