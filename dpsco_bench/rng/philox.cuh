/* Philox4x32-10 and what its words stand for, with the bits of `rng/kernels.py`.

   Compiled without fused multiply-adds: one of them would change last bits. */

typedef unsigned int word;
typedef unsigned long long word64;
typedef long long integer;

enum { NORMAL, UNIFORM, LAPLACE, INTEGER, SHAPE, RADIUS, ORDER }; /* kinds of draws: see rng/counters.py */

struct Key {
    word k0, k1;
};

/* w holds the counter (coordinate block, step, replicate, kind) and receives the four words. */
static __device__ __forceinline__ void philox(word w[4], Key key)
{
    for (int i = 0; i < 10; ++i) {
        word64 first = (word64)w[0] * 0xD2511F53u, second = (word64)w[2] * 0xCD9E8D57u;
        w[0] = (word)(second >> 32) ^ w[1] ^ key.k0;
        w[1] = (word)second;
        w[2] = (word)(first >> 32) ^ w[3] ^ key.k1;
        w[3] = (word)first;
        key.k0 += 0x9E3779B9u;
        key.k1 += 0xBB67AE85u;
    }
}

static __device__ __forceinline__ void words_of(word w[4], Key key, word kind, integer block, integer step, integer replicate)
{
    w[0] = (word)block;
    w[1] = (word)step;
    w[2] = (word)replicate;
    w[3] = kind;
    philox(w, key);
}

static __device__ __forceinline__ float flip_sign(float x, word sign)
{
    return __uint_as_float(__float_as_uint(x) ^ sign);
}

static __device__ __forceinline__ float minus_log(float u)
{
    int bits = (int)__float_as_uint(u) - 0x3F3504F3;
    float exponent = (float)(bits >> 23);
    float x = __uint_as_float((word)((bits & 0x7FFFFF) + 0x3F3504F3)) - 1.0f;
    float square = x * x;
    float p = 7.0376836292e-2f * x + -1.1514610310e-1f;
    p = p * x + 1.1676998740e-1f;
    p = p * x + -1.2420140846e-1f;
    p = p * x + 1.4249322787e-1f;
    p = p * x + -1.6668057665e-1f;
    p = p * x + 2.0000714765e-1f;
    p = p * x + -2.4999993993e-1f;
    p = p * x + 3.3333331174e-1f;
    float tail = p * (square * x);
    tail = tail + exponent * -2.12194440e-4f;
    tail = tail - 0.5f * square;
    return -((x + tail) + exponent * 0.693359375f);
}

static __device__ __forceinline__ void cos_sin(word w, float *abscissa, float *ordinate)
{
    word quarter = w >> 30;
    float angle = (float)(int)((w << 2) | 2u) * 3.657295299941e-10f; /* pi / 2^33 */
    float square = angle * angle;
    float p = -1.9515295891e-4f * square + 8.3321608736e-3f;
    p = p * square + -1.6666654611e-1f;
    float sine = p * square * angle + angle;
    float q = 2.443315711809948e-5f * square + -1.388731625493765e-3f;
    q = q * square + 4.166664568298827e-2f;
    float cosine = q * square * square - 0.5f * square + 1.0f;
    *abscissa = flip_sign(quarter & 1u ? sine : cosine, ((quarter + 1u) & 2u) << 30);
    *ordinate = flip_sign(quarter & 1u ? cosine : sine, (quarter & 2u) << 30);
}

/* A number in (0, 1) of float32. */
static __device__ __forceinline__ float fraction(word w)
{
    return (float)w * 2.3283064365386963e-10f + 1.1641532182693481e-10f; /* 2^-32, 2^-33 */
}

/* Two standard normals: radius from w, angle from v. */
static __device__ __forceinline__ void box_muller(word w, word v, float z[2])
{
    float radius = sqrtf(2.0f * minus_log(fraction(w))), cosine, sine;
    cos_sin(v, &cosine, &sine);
    z[0] = radius * cosine;
    z[1] = radius * sine;
}

/* Words 0, 1 and words 2, 3 -> two standard normals each. */
static __device__ __forceinline__ void normals(const word w[4], float z[4])
{
    box_muller(w[0], w[1], z);
    box_muller(w[2], w[3], z + 2);
}

/* The word's place in (0, 1), counted from the nearer end of its half. */
static __device__ __forceinline__ float folded(word w)
{
    return (float)(int)(w & 0x80000000u ? ~w : w) * 4.6566128730773926e-10f + 2.3283064365386963e-10f; /* 2^-31, 2^-32 */
}

/* Each word -> a Laplace variate of scale 1. */
static __device__ __forceinline__ void laplaces(const word w[4], float x[4])
{
    for (int i = 0; i < 4; ++i)
        x[i] = flip_sign(minus_log(folded(w[i])), ~w[i] & 0x80000000u);
}

/* Two words -> a uniform number in (0, 1). */
static __device__ __forceinline__ double uniform(word w, word v)
{
    double scaled = (double)w * 2097152.0 + (double)(v >> 11);
    return (scaled > 0.5 ? scaled : 0.5) * 1.1102230246251565e-16; /* 2^-53 */
}

/* Two words -> an integer in [0, high). */
static __device__ __forceinline__ integer integer_below(word w, word v, word64 high)
{
    return (integer)__umul64hi(((word64)w << 32) | v, high);
}
