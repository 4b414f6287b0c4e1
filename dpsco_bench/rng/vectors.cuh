/* Generalised Gaussian vectors, with the bits of `rng/kernels.py`: a row of 32 threads for each vector. */

/* 2^y for y in [-126, 126]. */
static __device__ __forceinline__ float power_of_two(float y)
{
    int whole = (int)(y + 127.5f);
    float x = y - (float)(whole - 127);
    float p = 1.535336188319500e-4f * x + 1.339887440266574e-3f;
    p = p * x + 9.618437357674640e-3f;
    p = p * x + 5.550332471162809e-2f;
    p = p * x + 2.402264791363012e-1f;
    p = p * x + 6.931472028550421e-1f;
    p = p * x + 1.0f;
    return p * __uint_as_float((word)whole << 23);
}

/* |w|^r, not below 2^-126. */
static __device__ __forceinline__ float power(float w, float r)
{
    float exponent = r * 1.4426950408889634f * minus_log(fabsf(w));
    return power_of_two(-fminf(exponent, 126.0f));
}

/* A word -> a variate of density ~ exp(-|w|^r), by the table of cubics (513, 4) of `rng/quantiles.py`. */
static __device__ __forceinline__ float shape(word w, const float *table)
{
    int bits = (int)__float_as_uint(folded(w));
    const float *cubic = table + 4 * ((bits >> 19) - 1520);
    float t = (float)(bits & 0x7FFFF) * 1.9073486328125e-6f; /* 2^-19 */
    return flip_sign(((cubic[3] * t + cubic[2]) * t + cubic[1]) * t + cubic[0], ~w & 0x80000000u);
}

/* Adds up values in the order of `kernels._row_sums`: each fourth value, then the four together. */
struct Sums {
    double *slots; /* 4 */
    float *shared; /* 128 */

    __device__ __forceinline__ void clear()
    {
        __syncwarp();
        if (threadIdx.x < 4) slots[threadIdx.x] = 0.0;
        __syncwarp();
    }

    /* Values 4 b .. 4 b + 3 of blocks b = first + thread; zeros beyond the end. */
    __device__ __forceinline__ void add(const float values[4])
    {
        for (int i = 0; i < 4; ++i) shared[4 * threadIdx.x + i] = values[i];
        __syncwarp();
        if (threadIdx.x < 4) {
            double sum = slots[threadIdx.x];
            for (int b = 0; b < 32; ++b) sum += (double)shared[4 * b + threadIdx.x];
            slots[threadIdx.x] = sum;
        }
        __syncwarp();
    }

    __device__ __forceinline__ double total() { return (slots[0] + slots[1]) + (slots[2] + slots[3]); }
};

struct Vector {
    Key key;
    integer step, replicate, dim;
    const float *table;
    float r;

    /* Shapes 4 b .. 4 b + 3, zero beyond the dimension. */
    __device__ __forceinline__ void shapes(integer block, float values[4])
    {
        word w[4];
        words_of(w, key, SHAPE, block, step, replicate);
        for (int i = 0; i < 4; ++i) values[i] = 4 * block + i < dim ? shape(w[i], table) : 0.0f;
    }

    /* Chi-square variate with as many degrees of freedom as there are coordinates. */
    __device__ __forceinline__ double squared_radius(Sums sums)
    {
        integer pairs = dim / 2;
        sums.clear();
        for (integer first = 0; 4 * first < pairs; first += 32) {
            integer block = first + threadIdx.x;
            word w[4];
            float values[4];
            words_of(w, key, RADIUS, block, step, replicate);
            for (int i = 0; i < 4; ++i) values[i] = 4 * block + i < pairs ? 2.0f * minus_log(fraction(w[i])) : 0.0f;
            sums.add(values);
        }
        double square = sums.total();
        if (dim % 2) {
            word w[2], v[4];
            float z[2];
            for (int i = 0; i < 2; ++i) {
                words_of(v, key, RADIUS, (pairs + i) / 4, step, replicate);
                w[i] = v[(pairs + i) % 4];
            }
            box_muller(w[0], w[1], z);
            square += (double)z[0] * (double)z[0];
        }
        return square;
    }

    /* Sum of |w/scale|^r over the shapes. */
    __device__ __forceinline__ double sum_of_powers(Sums sums, float scale)
    {
        sums.clear();
        for (integer first = 0; 4 * first < dim; first += 32) {
            integer block = first + threadIdx.x;
            float values[4];
            shapes(block, values);
            for (int i = 0; i < 4; ++i)
                values[i] = 4 * block + i < dim ? power(scale == 1.0f ? values[i] : values[i] / scale, r) : 0.0f;
            sums.add(values);
        }
        return sums.total();
    }

    __device__ __forceinline__ float largest_shape()
    {
        float largest = 0.0f;
        for (integer block = threadIdx.x; 4 * block < dim; block += 32) {
            float values[4];
            shapes(block, values);
            for (int i = 0; i < 4; ++i) largest = fmaxf(largest, fabsf(values[i]));
        }
        for (int o = 16; o; o >>= 1) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, o));
        return largest;
    }
};
