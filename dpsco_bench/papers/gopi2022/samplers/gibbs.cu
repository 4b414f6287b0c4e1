/* Gibbs chains for exp(<v, x> - c ||x||_q^2) on an l_p ball, q < 2 and p finite: `gibbs.py`, a thread for each chain. */
#include "rng/philox.cuh"

#define SHRINKS 32

struct Draws {
    Key key;
    integer replicate;

    /* Number j of a step. */
    __device__ __forceinline__ double at(integer step, integer j) const
    {
        word w[4];
        words_of(w, key, UNIFORM, j / 2, step, replicate);
        return j % 2 ? uniform(w[2], w[3]) : uniform(w[0], w[1]);
    }
};

/* sum_j |x_j|^p, kept up to date; the powers of a chain lie in memory. */
struct PowerSum {
    double p, *powers, total;

    __device__ __forceinline__ void begin(const double *x, integer d)
    {
        total = 0.0;
        for (integer j = 0; j < d; ++j) total += powers[j] = pow(fabs(x[j]), p);
    }

    /* Largest |x_j| for a norm of at most `radius`. */
    __device__ __forceinline__ double room(integer j, double radius) const
    {
        return pow(fmax(pow(radius, p) - (total - powers[j]), 0.0), 1.0 / p);
    }

    __device__ __forceinline__ void replace(integer j, double value)
    {
        double next = pow(fabs(value), p);
        total = fmax(total - powers[j], 0.0) + next;
        powers[j] = next;
    }
};

/* Variate of density ~ exp(slope x) on [-high, high]. */
static __device__ __forceinline__ double truncated_exponential(double u, double slope, double high)
{
    const double length = 2.0 * fabs(slope) * high;
    const double distance = length > 1e-8 ? -log1p(u * expm1(-length)) / fabs(slope) : 2.0 * u * high;
    const double found = fmin(fmax(high - distance, -high), high);
    return slope < 0.0 ? -found : found;
}

/* Factor of the move x <- s x, by slice sampling with shrinkage from s = 1. */
static __device__ __forceinline__ double scale_of(const double *x, const double *v, integer d, const Draws &draws, integer sweep, double log_u, double c, double q, double p, double radius)
{
    double slope = 0.0, powers_q = 0.0, powers_p = 0.0;
    for (integer j = 0; j < d; ++j) {
        slope += v[j] * x[j];
        powers_q += pow(fabs(x[j]), q);
        powers_p += pow(fabs(x[j]), p);
    }
    if (powers_p == 0.0) return 1.0;
    const double norm = pow(powers_q, 1.0 / q), curvature = c * (norm * norm), level = slope - curvature + log_u;
    const double most = radius / pow(powers_p, 1.0 / p);
    double low = 0.0, high = most, found = 1.0;
    for (int attempt = 0; attempt < SHRINKS; ++attempt) {
        const double at = low + (high - low) * draws.at(sweep, attempt);
        if ((double)(d - 1) * log(at) + at * slope - at * at * curvature >= level) {
            found = at;
            break;
        }
        if (at < 1.0) low = at;
        else high = at;
    }
    return fmin(found, most);
}

/* Sweeps first .. first + sweeps - 1 of chains x (rows, d), in place; `states (sweeps, rows, d)` gets the state after each.

   `powers (rows, 2, d)` is room to work in; the keys are those of the streams `gibbs` and `scale`. */
extern "C" __global__ void gibbs_sweeps(
    double *chains, double *states, double *powers, const double *tilts, integer rows, integer d, integer first,
    integer sweeps, double c, double q, double p, double radius, word k0, word k1, word s0, word s1,
    integer first_replicate, integer replicates)
{
    const integer row = (integer)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const Draws draws = {Key{k0, k1}, first_replicate + row % replicates};
    const Draws scales = {Key{s0, s1}, draws.replicate};
    const double *v = tilts + row * d;
    double *x = chains + row * d;
    PowerSum ball = {p, powers + 2 * row * d, 0.0}, norm = {q, powers + (2 * row + 1) * d, 0.0};
    for (integer sweep = first; sweep < first + sweeps; ++sweep) {
        ball.begin(x, d);
        norm.begin(x, d);
        for (integer j = 0; j < d; ++j) {
            const double length = pow(norm.total, 1.0 / q), slack = -log(draws.at(sweep, d + j)) / c;
            const double reach = fmin(ball.room(j, radius), norm.room(j, sqrt(length * length + slack)));
            x[j] = truncated_exponential(draws.at(sweep, j), v[j], reach);
            norm.replace(j, x[j]);
            ball.replace(j, x[j]);
        }
        const double factor = scale_of(x, v, d, scales, sweep, log(draws.at(sweep, 2 * d)), c, q, p, radius);
        for (integer j = 0; j < d; ++j) {
            x[j] *= factor;
            states[((sweep - first) * rows + row) * d + j] = x[j];
        }
    }
}
