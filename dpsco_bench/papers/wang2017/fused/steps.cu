/* Inner loops of DP-SVRG and DP-SVRG++: `variance_reduction.py` for a device, a block of threads for each row. */
#include "fused/row.cuh"

/* Arguments as of `variance_reduction.inner_steps`; of arrays their sizes, of noise its address in place of its values. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) inner_steps(
    double *iterates, double *totals, const double *snapshots, const double *anchors, const double *sizes, STEP_PARAMETERS,
    const double *scale, double ridge, integer ball, double radius)
{
    STEP_OBJECTS
    const double eta = sizes[row], shrunk = 1.0 / (1.0 + eta * ridge), *anchor = anchors + row * d;
    double *total = totals + row * d; /* in memory: no step waits for it */
    Row x, old, g;
    read(x, iterates + row * d, d);
    read(old, snapshots + row * d, d);
    for (integer s = 0; s < steps; ++s) {
        const integer count = records.count(s, row);
        read(g, anchor, d);
        for (integer w = 0; w < count && slope != NO_SLOPE; ++w) {
            const integer i = records.at(s, row, w);
            Row one;
            records.features_of(one, i);
            double margins[2] = {0.0, 0.0};
            EACH(o) margins[0] += x[o] * one[o], margins[1] += old[o] * one[o];
            add_up(margins);
            const double weight = share * (form.slope(margins[0], labels[i]) - form.slope(margins[1], labels[i]));
            EACH(o) g[o] += weight * one[o];
        }
        if (curved) {
            const double weight = (double)count * share;
            EACH(o) if (coordinate(o) < d) g[o] += weight * hessian[coordinate(o)] * (x[o] - old[o]);
        }
        double square = row_sum(descend(x, g, noise, s, row, eta, scale[s], 0.0, d));
        if (ridge > 0.0) {
            square *= shrunk * shrunk;
            EACH(o) x[o] *= shrunk;
        }
        const double shrink = shrink_onto(x, square, ball, radius);
        EACH(o)
        {
            x[o] *= shrink;
            if (coordinate(o) < d) total[coordinate(o)] += x[o];
        }
    }
    write(x, iterates + row * d, d);
}
