/* Projected gradient steps on few records: `fused/descent.py` for a device, a block of threads for each row. */
#include "row.cuh"

/* Arguments as of `descent.projected_steps`; of arrays their sizes, of noise its address in place of its values. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) projected_steps(
    double *iterates, double *totals, STEP_PARAMETERS, const double *scale, const double *eta, const double *weights,
    double ridge, integer ball, double radius)
{
    STEP_OBJECTS
    const bool single = slope != NO_SLOPE && records.single(), apart = ball == L1_BALL || ball == LINF_BALL;
    Row x, total, g, next;
    double margin = 0.0, label = 0.0;
    read(x, iterates + row * d, d);
    read(total, totals + row * d, d);
    EACH(o) next[o] = 0.0;
    if (single) {
        integer i = records.at(0, row, 0);
        records.features_of(next, i);
        margin = dot(x, next);
        label = labels[i];
    }
    for (integer s = 0; s < steps; ++s) {
        if (single) {
            double weight = share * form.slope(margin, label);
            EACH(o) g[o] = weight * next[o];
            /* The record that follows is on its way while this step is made. */
            if (s + 1 < steps) {
                integer i = records.at(s + 1, row, 0);
                records.features_of(next, i);
                label = labels[i];
            }
        } else {
            batch_gradient(g, x, records, form, s, row);
        }
        if (curved) {
            double weight = (double)records.count(s, row) * share;
            EACH(o) if (coordinate(o) < d) g[o] += weight * hessian[coordinate(o)] * (x[o] - centre[coordinate(o)]);
        }
        double sums[2] = {descend(x, g, noise, s, row, eta[s], scale[s], ridge, d), 0.0};
        EACH(o) sums[1] += x[o] * next[o];
        add_up(sums);
        double shrink = shrink_onto(x, sums[0], ball, radius);
        EACH(o) x[o] *= shrink, total[o] += weights[s] * x[o];
        if (single) margin = apart ? dot(x, next) : shrink * sums[1];
    }
    write(x, iterates + row * d, d);
    write(total, totals + row * d, d);
}
