/* Pieces of steps for a row of an iterate, as `fused/pieces.py` has them for a core.

   A row is shared by the THREADS threads of a block: the o-th number of thread k is coordinate
   4 (k + THREADS (o / 4)) + o % 4, so that a thread draws whole blocks of noise. THREADS and BLOCKS are macros of the
   compiler; numbers beyond the dimension are zero. Loops over them are unrolled: else a row lies on the stack. */
#include "rng/philox.cuh"

#define OWN (4 * BLOCKS)
#ifdef __CUDACC__
#define EACH(o) _Pragma("unroll") for (int o = 0; o < OWN; ++o)
#else
#define EACH(o) for (int o = 0; o < OWN; ++o)
#endif

enum { NO_SLOPE, CONSTANT, SQUARED, LOGISTIC, HUBER, PSEUDO_HUBER }; /* problems/forms.py */
enum { SPACE, L2_BALL, L1_BALL, LINF_BALL };                         /* fused/pieces.py */

typedef double Row[OWN];

static __device__ __forceinline__ integer block_of(int o) { return threadIdx.x + THREADS * (o / 4); }
static __device__ __forceinline__ integer coordinate(int o) { return 4 * block_of(o) + o % 4; }

static __device__ __forceinline__ void read(Row row, const double *from, integer d)
{
    EACH(o) row[o] = coordinate(o) < d ? from[coordinate(o)] : 0.0;
}

static __device__ __forceinline__ void write(const Row row, double *to, integer d)
{
    EACH(o) if (coordinate(o) < d) to[coordinate(o)] = row[o];
}

/* Sums of N numbers over the threads of the block; all of them get the same. */
template <int N>
static __device__ __forceinline__ void add_up(double (&values)[N])
{
    for (int i = 0; i < N; ++i)
        for (int other = 16; other; other >>= 1) values[i] += __shfl_xor_sync(0xffffffffu, values[i], other);
#if THREADS > 32
    __shared__ double warps[THREADS / 32][N];
    if (threadIdx.x % 32 == 0)
        for (int i = 0; i < N; ++i) warps[threadIdx.x / 32][i] = values[i];
    __syncthreads();
    for (int i = 0; i < N; ++i) {
        values[i] = 0.0;
        for (int w = 0; w < THREADS / 32; ++w) values[i] += warps[w][i];
    }
    __syncthreads();
#endif
}

static __device__ __forceinline__ double row_sum(double value)
{
    double values[1] = {value};
    add_up(values);
    return values[0];
}

static __device__ __forceinline__ double dot(const Row x, const Row y)
{
    double sum = 0.0;
    EACH(o) sum += x[o] * y[o];
    return row_sum(sum);
}

struct Form {
    integer kind;
    double a, b;

    /* l'(m, y) */
    __device__ __forceinline__ double slope(double margin, double label) const
    {
        double t = margin - label;
        switch (kind) {
        case LOGISTIC: return 0.5 * (a * label + tanh(0.5 * (margin + b * (a * label))));
        case SQUARED: return t;
        case PSEUDO_HUBER: return t / sqrt(t * t + a * a);
        case HUBER: return fmin(1.0, fmax(-1.0, a * t));
        default: return a;
        }
    }
};

/* Records of steps: as `fused.tiles.Tile` has them; a row of the index stands for all where there is one. */
struct Records {
    const double *features, *labels;
    const integer *index, *counts;
    integer d, rows, width, counted_steps, counted_rows;
    double share;

    __device__ __forceinline__ integer chosen(integer row) const { return row % rows; }
    __device__ __forceinline__ integer at(integer s, integer row, integer w) const
    {
        return index[(s * rows + chosen(row)) * width + w];
    }
    __device__ __forceinline__ integer count(integer s, integer row) const
    {
        return counts[(s % counted_steps) * counted_rows + row % counted_rows];
    }
    __device__ __forceinline__ bool single() const { return width == 1 && counted_steps * counted_rows == 1 && counts[0] == 1; }
    __device__ __forceinline__ void features_of(Row a, integer i) const { read(a, features + i * d, d); }
};

/* Standard normals of a query: drawn where they are added. */
struct Noise {
    Key key;
    integer first_step, first_replicate, replicates;

    __device__ __forceinline__ void normal(float z[4], int o, integer s, integer row) const
    {
        word w[4];
        words_of(w, key, NORMAL, block_of(o), first_step + s, first_replicate + row % replicates);
        normals(w, z);
    }
};

/* Overwrite g by the batch's gradient at x, curvature included. */
static __device__ __forceinline__ void batch_gradient(Row g, const Row x, const Records &records, const Form &form, integer s, integer row)
{
    integer count = records.count(s, row);
    EACH(o) g[o] = 0.0;
    for (integer w = 0; w < count && form.kind != NO_SLOPE; ++w) {
        integer i = records.at(s, row, w);
        Row a;
        records.features_of(a, i);
        double weight = records.share * form.slope(form.kind == CONSTANT ? 0.0 : dot(x, a), records.labels[i]);
        EACH(o) g[o] += weight * a[o];
    }
}

/* x - eta (g + ridge x + scale z) in place; the sum of squares of this thread's part. */
static __device__ __forceinline__ double descend(Row x, const Row g, const Noise &noise, integer s, integer row, double eta, double scale, double ridge, integer d)
{
    double square = 0.0;
    float z[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    EACH(o)
    {
        if (o % 4 == 0 && scale != 0.0) noise.normal(z, o, s, row);
        double gradient = g[o] + ridge * x[o], added = coordinate(o) < d ? scale * (double)z[o % 4] : 0.0;
        x[o] -= eta * (gradient + added);
        square += x[o] * x[o];
    }
    return square;
}

/* Nearest point of the l1 ball, in place: as `pieces.project_l1`. */
static __device__ __forceinline__ void project_l1(Row x, double radius)
{
    double sums[2] = {0.0, 0.0}, before = 1e300, threshold = 0.0;
    EACH(o) sums[0] += fabs(x[o]), sums[1] += x[o] != 0.0;
    add_up(sums);
    if (sums[0] <= radius) return;
    while (sums[1] < before) {
        threshold = (sums[0] - radius) / sums[1];
        before = sums[1];
        sums[0] = sums[1] = 0.0;
        EACH(o) if (fabs(x[o]) > threshold) sums[0] += fabs(x[o]), sums[1] += 1.0;
        add_up(sums);
    }
    EACH(o) x[o] = copysign(fmax(fabs(x[o]) - threshold, 0.0), x[o]);
}

/* The number that x, of that squared length, is to be multiplied by; on balls other than l2 x is projected in place. */
static __device__ __forceinline__ double shrink_onto(Row x, double square, integer ball, double radius)
{
    if (ball == L2_BALL && square > radius * radius) return radius / sqrt(square);
    if (ball == LINF_BALL) EACH(o) x[o] = fmin(radius, fmax(-radius, x[o]));
    if (ball == L1_BALL) project_l1(x, radius);
    return 1.0;
}

/* What every kernel of steps is told of a tile: see `fused.device.step_arguments`. */
#define STEP_PARAMETERS                                                                                             \
    integer d, integer replicates, integer steps, const double *features, const double *labels,                    \
        const integer *index, const integer *counts, integer index_rows, integer width, integer counted_steps,     \
        integer counted_rows, double share, integer slope, double a, double b, const double *hessian,              \
        const double *centre, integer curved, word k0, word k1, integer first_step, integer first_replicate
#define STEP_OBJECTS                                                                                                \
    const Records records = {features, labels, index, counts, d, index_rows, width, counted_steps, counted_rows, share}; \
    const Form form = {slope, a, b};                                                                                \
    const Noise noise = {Key{k0, k1}, first_step, first_replicate, replicates};                                     \
    const integer row = blockIdx.x;
