/* Noisy SGD on the logistic loss over an l2 ball, one replicate after the other: the loop that one writes in C.
 *
 * Normals are Marsaglia's polar method over xoshiro256++ (public domain, Blackman and Vigna). */
#include <math.h>
#include <stdint.h>

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

/* a: records (n, d) with labels y (n); out: means of the iterates (R, d); work: 2 d numbers. Indices (T) and noise
 * (R, T, d) that are given are used, those that are not are drawn. */
void noisy_sgd(const double *a, const double *y, int64_t n, int64_t d, int64_t R, int64_t T, double eta, double sigma,
               double radius, uint64_t seed, const int64_t *given, const double *noise, double *work, double *out) {
    double *x = work, *z = work + d;
    for (int k = 0; k < 4; k++) state[k] = (seed + k + 1) * 0x9E3779B97F4A7C15ULL;
    for (int64_t r = 0; r < R; r++) {
        double *mean = out + r * d;
        for (int64_t j = 0; j < d; j++) x[j] = mean[j] = 0;
        for (int64_t t = 0; t < T; t++) {
            int64_t i = given ? given[t] : (int64_t)(uniform() * n);
            const double *row = a + i * d, *drawn = noise ? noise + (r * T + t) * d : z;
            if (!noise) normals(z, d);
            double margin = 0, length = 0;
            for (int64_t j = 0; j < d; j++) margin += row[j] * x[j];
            double slope = -y[i] / (1 + exp(y[i] * margin));
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
