/* Noisy minima of given scores: a block of THREADS threads for each row. */
#define THREADS 128
#define MOST_SCORES 65536 /* rng/cuda.py */
#include "philox.cuh"
#include "order.cuh"

struct Given {
    const double *scores;
    __device__ __forceinline__ double operator()(integer i) const { return scores[i]; }
};

/* Indices of the least noisy of `count` scores: of rows whose scores are within `widest` by as few draws as it takes. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) noisy_minima(
    integer *out, const double *scores, integer count, double scale, double widest, word k0, word k1, integer step, integer first_replicate)
{
    const integer row = blockIdx.x, replicate = first_replicate + row;
    const Given given = {scores + row * count};
    const Key key = {k0, k1};
    Least low = {1.7976931348623157e308, 0}, high = low, found = low;
    for (integer i = threadIdx.x; i < count; i += THREADS) low.take(given(i), i), high.take(-given(i), i);
    low = least_of(low);
    high = least_of(high);
    if (-high.value - low.value <= widest) {
        found.index = least_by_few<MOST_SCORES>(given, count, low.value, scale, key, step, replicate);
    } else {
        for (integer block = threadIdx.x; 4 * block < count; block += THREADS) {
            float noise[4];
            laplaces_of(noise, key, block, step, replicate);
            for (int e = 0; e < 4; ++e)
                if (4 * block + e < count) found.take(given(4 * block + e) + scale * (double)noise[e], 4 * block + e);
        }
        found = least_of(found);
    }
    if (threadIdx.x == 0) out[row] = found.index;
}
