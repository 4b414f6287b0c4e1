"""Empirical lower bounds on epsilon."""

import sys

from dpsco_bench import Verb

sys.modules[__name__].__class__ = Verb
