/* Noisy SGD on the logistic loss over an l2 ball, one replicate after the other.
 *
 * Plain, as one writes it in C: normals are Marsaglia's polar method over xoshiro256++ (public domain, Blackman and
 * Vigna), a pair at a time, with libm. Wide, as one tunes it: Box and Muller's method over xoshiro128++ in 16 lanes,
 * float32 as ours are, with polynomials for logarithm, sine and cosine. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static uint64_t state[4];

static inline uint64_t rotated(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

static inline uint64_t word(void) {
    uint64_t *s = state, out = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = rotated(s[3], 45);
    return out;
}

static inline double uniform(void) { return (word() >> 11) * 0x1.0p-53; }

static void normals(double *z, int64_t d) {
    for (int64_t j = 0; j < d; j += 2) {
        double u, v, s;
        do {
            u = 2 * uniform() - 1, v = 2 * uniform() - 1, s = u * u + v * v;
        } while (s >= 1 || s == 0);
        double r = sqrt(-2 * log(s) / s);
        z[j] = r * u;
        if (j + 1 < d) z[j + 1] = r * v;
    }
}

enum { LANES = 16, HELD = 128 * LANES };
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef float floats __attribute__((vector_size(4 * LANES)));

static words lanes[4];
static float held[HELD];

static inline words wide_word(void) {
    words *s = lanes, sum = s[0] + s[3], out = ((sum << 7) | (sum >> 25)) + s[0], t = s[1] << 9;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = (s[3] << 11) | (s[3] >> 21);
    return out;
}

/* Of numbers in (0, 1]. */
static inline floats wide_log(floats a) {
    ints bits = (ints)a, e = (bits - 0x3f2aaaab) & (int32_t)0xff800000;
    floats f = (floats)(bits - e) - 1, s = f * f;
    floats r = ((-0.130310059f * s - 0.121483512f) * s - 0.166846126f) * s - 0.249996200f;
    floats t = (0.140869141f * s + 0.139814854f) * s + 0.200120345f;
    r = ((t * f + r) * f + 0.333331972f) * f - 0.5f;
    return r * s + f + __builtin_convertvector(e, floats) * (0x1p-23f * 0.693147182f);
}

/* n is a multiple of 32. Each pair is an angle of a quarter turn, and two more bits say which. */
void wide_normals(float *z, int64_t n) {
    for (int64_t j = 0; j < n; j += 2 * LANES) {
        words w = wide_word();
        floats u = __builtin_convertvector((ints)(wide_word() >> 8) + 1, floats) * 0x1p-24f, r = -2 * wide_log(u);
        for (int l = 0; l < LANES; l++) r[l] = sqrtf(r[l]);
        floats x = (__builtin_convertvector((ints)(w >> 8), floats) * 0x1p-24f - 0.5f) * 1.57079633f, q = x * x;
        floats sine = ((-1.9515296e-4f * q + 8.3321609e-3f) * q - 1.6666655e-1f) * q * x + x;
        floats cosine = ((2.4433157e-5f * q - 1.3887316e-3f) * q + 4.1666646e-2f) * q * q - 0.5f * q + 1;
        words turn = -(w & 1), sign = (w & 2) << 30, a = (words)sine, b = (words)cosine, swap = (a ^ b) & turn;
        floats first = r * (floats)(a ^ swap ^ sign), second = r * (floats)(b ^ swap ^ sign ^ (turn & 0x80000000u));
        memcpy(z + j, &first, sizeof first), memcpy(z + j + LANES, &second, sizeof second);
    }
}

static inline void drawn_wide(double *z, int64_t d) {
    static int64_t at = HELD;
    for (int64_t j = 0; j < d;) {
        if (at == HELD) wide_normals(held, HELD), at = 0;
        int64_t most = d - j < HELD - at ? d - j : HELD - at;
        for (int64_t k = 0; k < most; k++) z[j + k] = held[at + k];
        j += most, at += most;
    }
}

/* a: records (n, d) with labels y (n); out: means of the iterates (R, d); work: 2 d numbers. Indices (T) and noise
 * (R, T, d) that are given are used, those that are not are drawn. */
void noisy_sgd(const double *a, const double *y, int64_t n, int64_t d, int64_t R, int64_t T, double eta, double sigma,
               double radius, uint64_t seed, int64_t wide, const int64_t *given, const double *noise, double *work, double *out) {
    double *x = work, *z = work + d;
    for (int k = 0; k < 4; k++) state[k] = (seed + k + 1) * 0x9E3779B97F4A7C15ULL;
    for (int k = 0; k < 4 * LANES; k++) lanes[k / LANES][k % LANES] = word() >> 32;
    for (int64_t r = 0; r < R; r++) {
        double *mean = out + r * d;
        for (int64_t j = 0; j < d; j++) x[j] = mean[j] = 0;
        for (int64_t t = 0; t < T; t++) {
            int64_t i = given ? given[t] : (int64_t)(uniform() * n);
            const double *row = a + i * d, *drawn = noise ? noise + (r * T + t) * d : z;
            if (!noise) wide ? drawn_wide(z, d) : normals(z, d);
            double margin = 0, length = 0;
            #pragma omp simd reduction(+ : margin)
            for (int64_t j = 0; j < d; j++) margin += row[j] * x[j];
            double slope = -y[i] / (1 + exp(y[i] * margin));
            #pragma omp simd reduction(+ : length)
            for (int64_t j = 0; j < d; j++) {
                x[j] -= eta * (slope * row[j] + sigma * drawn[j]);
                length += x[j] * x[j];
            }
            length = sqrt(length);
            double shrink = length > radius ? radius / length : 1;
            for (int64_t j = 0; j < d; j++) x[j] *= shrink;
            if (t + 1 < T)
                for (int64_t j = 0; j < d; j++) mean[j] += x[j];
        }
        for (int64_t j = 0; j < d; j++) mean[j] /= T;
    }
}
