"""Your own online learner for the private online-to-batch reduction: steps along the direction of the loss alone."""

import numpy as np

from dpsco_bench.papers.zhang2022.learners import Learner, learner


@learner("normalised")
class Normalised(Learner):
    """``w <- P(w - D/sqrt(2 t) g/||g||)``: the size of a loss does not matter."""

    summary = "projected steps D/sqrt(2 t) along g/||g||"

    def __init__(self, setting):
        super().__init__(setting)  # self.setting, and self.w, which starts at setting.start (R, d)
        self.t = 0

    def update(self, g):  # the loss is <g, w_t> in the round in which predict() returned w_t = self.w
        self.t += 1
        unit = g / np.maximum(np.linalg.norm(g, axis=-1, keepdims=True), 1e-300)
        self.w = self.setting.project(self.w - self.setting.diameter / np.sqrt(2 * self.t) * unit)

    def regret_bound(self):  # (R, 1), checked in every run that observes its rounds; None: none is known
        return None
