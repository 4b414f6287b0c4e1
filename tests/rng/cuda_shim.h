/* What CUDA C source needs to be compiled as C, with a serial launch in place of the grid of threads. */
#include <math.h>
#include <string.h>

#define DPSCO_DEVICE static inline
#define DPSCO_KERNEL static

typedef struct {
    unsigned int x, y, z;
} shim_index;

static shim_index threadIdx, blockIdx, blockDim, gridDim;

static inline unsigned int __float_as_uint(float x)
{
    unsigned int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float __uint_as_float(unsigned int bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    unsigned long long a1 = a >> 32, a0 = a & 0xFFFFFFFFu, b1 = b >> 32, b0 = b & 0xFFFFFFFFu;
    unsigned long long middle = a1 * b0 + (a0 * b0 >> 32), carry = (middle & 0xFFFFFFFFu) + a0 * b1;
    return a1 * b1 + (middle >> 32) + (carry >> 32);
}

/* Define a function `launch_NAME` that runs the kernel NAME for every thread of a one-dimensional grid. */
#define SHIM_LAUNCHER(name, type)                                                                            \
    void launch_##name(unsigned int grid, unsigned int block, type *out, long long first_step,               \
                       long long steps, long long first_replicate, long long replicates, long long dim,      \
                       unsigned int kind, unsigned int k0, unsigned int k1, unsigned long long high)         \
    {                                                                                                        \
        gridDim.x = grid;                                                                                    \
        blockDim.x = block;                                                                                  \
        for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)                                                \
            for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x)                                        \
                name(out, first_step, steps, first_replicate, replicates, dim, kind, k0, k1, high);          \
    }
