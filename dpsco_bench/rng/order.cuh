/* Report noisy max by the THREADS threads of a block: all noise, or as much as decides (`rng/kernels.py`). */

struct Least {
    double value;
    integer index;

    /* Of equal values the first counts. */
    __device__ __forceinline__ void take(double other, integer where)
    {
        if (other < value || (other == value && where < index)) value = other, index = where;
    }
};

/* The least over the block; all threads get it. */
static __device__ __forceinline__ Least least_of(Least mine)
{
    for (int other = 16; other; other >>= 1) {
        double value = __shfl_xor_sync(0xffffffffu, mine.value, other);
        integer index = __shfl_xor_sync(0xffffffffu, mine.index, other);
        mine.take(value, index);
    }
#if THREADS > 32
    __shared__ Least warps[THREADS / 32];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; ++w) mine.take(warps[w].value, warps[w].index);
    __syncthreads();
#endif
    return mine;
}

/* Laplace variates 4 block .. 4 block + 3 of a row. */
static __device__ __forceinline__ void laplaces_of(float noise[4], Key key, integer block, integer step, integer replicate)
{
    word w[4];
    words_of(w, key, LAPLACE, block, step, replicate);
    laplaces(w, noise);
}

/* Index of the least of `count` <= MOST noisy scores, `lowest` the least without noise: the threads draw attempts, and
   the first of them goes through these in order until no further noise can decide. */
template <int MOST, class Scores>
static __device__ __forceinline__ integer least_by_few(const Scores &score, integer count, double lowest, double scale, Key key, integer step, integer replicate)
{
    __shared__ word seen[MOST / 32];
    __shared__ integer places[THREADS], answer;
    __shared__ double exponentials[THREADS];
    const double none = 1.7976931348623157e308, log2 = 0.6931471805599453;
    double best = none, surprise = 0.0;
    integer left = count, chosen = 0, found = -1;
    for (integer i = threadIdx.x; 32 * i < count; i += THREADS) seen[i] = 0u;
    for (integer first = 0; found < 0; first += THREADS) {
        word w[4];
        words_of(w, key, ORDER, first + threadIdx.x, step, replicate);
        places[threadIdx.x] = integer_below(w[2], w[3], count);
        exponentials[threadIdx.x] = -log(uniform(w[0], w[1]));
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 0; k < THREADS && left > 0; ++k) {
                const integer i = places[k];
                if (seen[i / 32] >> (i % 32) & 1u) continue;
                seen[i / 32] |= 1u << (i % 32);
                surprise += exponentials[k] / left--;
                const double above = -expm1(-surprise); /* probability that a variate exceeds this order statistic */
                const double noise = above <= 0.5 ? -log(2.0 * above) : log2 - surprise;
                if (score(i) - scale * noise < best) best = score(i) - scale * noise, chosen = i;
                if (lowest - scale * noise >= best) left = 0;
            }
            answer = left > 0 ? -1 : chosen;
        }
        __syncthreads();
        found = answer;
    }
    __syncthreads();
    return found;
}
