/* One-pass Frank-Wolfe over the l1 ball: `poly_sfw.py` for a device, a block of threads for each row. */
#include "fused/row.cuh"
#include "rng/order.cuh"

/* Scores <v, estimate> of the vertices +-radius e_j. */
struct Vertices {
    const double *estimate;
    double radius;
    __device__ __forceinline__ double operator()(integer i) const
    {
        const double score = radius * estimate[i / 2];
        return i % 2 ? -score : score;
    }
};

/* Arguments as of `poly_sfw.vertex_steps`; `threshold` is the first of `lazy`, whose words are those of the noise. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) vertex_steps(
    double *iterates, double *olds, double *estimates, STEP_PARAMETERS, const double *scale, double eta, double radius,
    double threshold)
{
    STEP_OBJECTS
    __shared__ double kept[OWN * THREADS];
    const Vertices vertices = {kept, radius};
    const integer replicate = first_replicate + row % replicates;
    Row x, old, estimate, one;
    read(x, iterates + row * d, d);
    read(old, olds + row * d, d);
    read(estimate, estimates + row * d, d);
    EACH(o) one[o] = 0.0;
    for (integer s = 0; s < steps; ++s) {
        double slopes[2] = {0.0, 0.0}, largest = 0.0;
        if (slope != NO_SLOPE) {
            const integer i = records.at(s, row, 0);
            records.features_of(one, i);
            EACH(o) slopes[0] += x[o] * one[o], slopes[1] += old[o] * one[o];
            add_up(slopes);
            slopes[0] = form.slope(slopes[0], labels[i]);
            slopes[1] = form.slope(slopes[1], labels[i]);
        }
        EACH(o) if (coordinate(o) < d)
        {
            const integer j = coordinate(o);
            double now = slopes[0] * one[o], then = slopes[1] * one[o];
            if (curved) {
                now = now + hessian[j] * (x[o] - centre[j]);
                then = then + hessian[j] * (old[o] - centre[j]);
            }
            estimate[o] = (1.0 - eta) * (estimate[o] + now - then) + eta * now;
            kept[j] = estimate[o];
            largest = fmax(largest, fabs(estimate[o]));
        }
        Least found = {-largest, 0};
        if (threshold >= 0.0) largest = -least_of(found).value * radius;
        __syncthreads();
        if (threshold >= 0.0 && 2.0 * largest <= scale[s] * threshold) {
            found.index = least_by_few<2 * OWN * THREADS>(vertices, 2 * d, -largest, scale[s], noise.key, first_step + s, replicate);
        } else {
            found.value = 1.7976931348623157e308;
            for (integer block = threadIdx.x; 2 * block < d; block += THREADS) {
                float z[4] = {0.0f, 0.0f, 0.0f, 0.0f};
                if (scale[s] != 0.0) laplaces_of(z, noise.key, block, first_step + s, replicate);
                for (integer i = 4 * block; i < 4 * block + 4 && i < 2 * d; ++i)
                    found.take(scale[s] != 0.0 ? vertices(i) + scale[s] * (double)z[i % 4] : vertices(i), i);
            }
            found = least_of(found);
        }
        __syncthreads();
        EACH(o)
        {
            old[o] = x[o];
            x[o] = (1.0 - eta) * x[o];
            if (coordinate(o) == found.index / 2) x[o] += eta * (found.index % 2 ? -radius : radius);
        }
    }
    write(x, iterates + row * d, d);
    write(old, olds + row * d, d);
    write(estimate, estimates + row * d, d);
}
