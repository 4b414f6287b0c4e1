/* Draws over a box of counters, with the bits of `rng/kernels.py`: a kernel for each kind. */
#include "philox.cuh"
#include "vectors.cuh"

struct Box {
    integer first_step, steps, first_replicate, replicates, dim;
};

/* Block i of the box, counted through steps, replicates and blocks: its words; returns where its first value goes. */
static __device__ __forceinline__ integer draw(const Box &box, Key key, word kind, integer i, int per_block, word w[4], int *count)
{
    integer blocks = (box.dim + per_block - 1) / per_block, row = i / blocks, block = i % blocks;
    integer left = box.dim - block * per_block;
    words_of(w, key, kind, block, box.first_step + row / box.replicates, box.first_replicate + row % box.replicates);
    *count = left < per_block ? (int)left : per_block;
    return row * box.dim + block * per_block;
}

struct Normals {
    static const int per_block = 4;
    typedef float type;
    static __device__ __forceinline__ void from(const word w[4], word64, float values[4]) { normals(w, values); }
};

struct Laplaces {
    static const int per_block = 4;
    typedef float type;
    static __device__ __forceinline__ void from(const word w[4], word64, float values[4]) { laplaces(w, values); }
};

struct Uniforms {
    static const int per_block = 2;
    typedef double type;
    static __device__ __forceinline__ void from(const word w[4], word64, double values[2])
    {
        for (int i = 0; i < 2; ++i) values[i] = uniform(w[2 * i], w[2 * i + 1]);
    }
};

struct Integers {
    static const int per_block = 2;
    typedef integer type;
    static __device__ __forceinline__ void from(const word w[4], word64 high, integer values[2])
    {
        for (int i = 0; i < 2; ++i) values[i] = integer_below(w[2 * i], w[2 * i + 1], high);
    }
};

template <class Law>
static __device__ __forceinline__ void fill(typename Law::type *out, Box box, word kind, Key key, word64 high)
{
    integer total = box.steps * box.replicates * ((box.dim + Law::per_block - 1) / Law::per_block);
    for (integer i = (integer)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (integer)gridDim.x * blockDim.x) {
        word w[4];
        typename Law::type values[Law::per_block];
        int count;
        integer position = draw(box, key, kind, i, Law::per_block, w, &count);
        Law::from(w, high, values);
        for (int j = 0; j < Law::per_block; ++j)
            if (j < count) out[position + j] = values[j];
    }
}

#define BOX integer first_step, integer steps, integer first_replicate, integer replicates, integer dim
#define THE_BOX Box{first_step, steps, first_replicate, replicates, dim}

extern "C" __global__ void draw_normal(float *out, BOX, word kind, word k0, word k1, word64 high)
{
    fill<Normals>(out, THE_BOX, kind, Key{k0, k1}, high);
}

extern "C" __global__ void draw_laplace(float *out, BOX, word kind, word k0, word k1, word64 high)
{
    fill<Laplaces>(out, THE_BOX, kind, Key{k0, k1}, high);
}

extern "C" __global__ void draw_uniform(double *out, BOX, word kind, word k0, word k1, word64 high)
{
    fill<Uniforms>(out, THE_BOX, kind, Key{k0, k1}, high);
}

extern "C" __global__ void draw_integers(integer *out, BOX, word kind, word k0, word k1, word64 high)
{
    fill<Integers>(out, THE_BOX, kind, Key{k0, k1}, high);
}

/* Vectors of density ~ exp(-||z||_r^2/2): a block of 32 threads for each row of the box. */
extern "C" __global__ void draw_generalised_gaussian(float *out, BOX, word k0, word k1, const float *table, float r)
{
    __shared__ double slots[4];
    __shared__ float shared[128];
    Sums sums = {slots, shared};
    integer row = blockIdx.x;
    Vector vector = {Key{k0, k1}, first_step + row / replicates, first_replicate + row % replicates, dim, table, r};
    double square = vector.squared_radius(sums), scale = 1.0;
    double total = vector.sum_of_powers(sums, 1.0f);
    if (total < 1e-30) {
        float largest = vector.largest_shape();
        total = vector.sum_of_powers(sums, largest);
        scale = (double)largest;
    }
    float inverse = 1.4426950408889634f / r;
    double root = (double)power_of_two(inverse * -minus_log((float)total)), factor = sqrt(square) / (scale * root);
    for (integer block = threadIdx.x; 4 * block < dim; block += 32) {
        float values[4];
        vector.shapes(block, values);
        for (int i = 0; i < 4; ++i)
            if (4 * block + i < dim) out[row * dim + 4 * block + i] = (float)(factor * (double)values[i]);
    }
}
