/* Rounds of the online-to-batch conversion in l2: `rounds.py` for a device, a block of threads for each row. */
#include "fused/row.cuh"

enum { OGD_FIXED, OGD_ADAGRAD, OSD, FTRL, LP_FTRL, OPTIMISTIC_FTRL, OPTIMISTIC_OMD };
enum { FIXED, PRINTED, TIGHT };
#define TINY 1e-200

static __device__ __forceinline__ double inverse_root(double total) { return 1.0 / sqrt(fmax(total, TINY)); }

static __device__ __forceinline__ void onto_ball(Row w, double radius)
{
    const double length = sqrt(dot(w, w));
    if (length > radius) EACH(o) w[o] *= radius / length;
}

/* The learner of a row: w_t, and in memory, since they are wanted once a round, the sum of its losses or mirror
   descent's y, and the hint; its sum of squares or errors. */
struct Learner {
    integer kind;
    double radius, errors;
    const double *start;
    double *along_there, *expected_there;
    integer d;
    Row w;

    /* w_t of the optimistic learners; of the others it is there already. */
    __device__ __forceinline__ void predict(bool first)
    {
        if (kind != OPTIMISTIC_FTRL && kind != OPTIMISTIC_OMD) return;
        Row along, expected;
        read(along, along_there, d);
        read(expected, expected_there, d);
        if (kind == OPTIMISTIC_FTRL) {
            const double eta = radius * inverse_root(errors);
            read(w, start, d);
            EACH(o) w[o] -= eta * (along[o] + expected[o]);
        } else {
            const double eta = first ? 0.0 : 2.0 * radius * inverse_root(errors);
            EACH(o) w[o] = along[o] - eta * expected[o];
        }
        if (kind == OPTIMISTIC_FTRL || !first) onto_ball(w, radius);
    }

    /* Suffer a loss; `size` is the step of learners that do not adapt. */
    __device__ __forceinline__ void update(const Row loss, double size)
    {
        if (kind == OPTIMISTIC_FTRL || kind == OPTIMISTIC_OMD) {
            hear(loss);
            return;
        }
        if (kind != OGD_FIXED) errors += (kind == OSD ? 0.5 * size : 1.0) * dot(loss, loss);
        double eta = kind == OGD_FIXED || kind == OSD ? size : radius * inverse_root(errors);
        if (kind == OGD_ADAGRAD) eta = sqrt(2.0) * eta;
        if (kind == FTRL) {
            Row along;
            read(along, along_there, d);
            read(w, start, d);
            EACH(o)
            {
                along[o] += loss[o];
                w[o] -= eta * along[o];
            }
            write(along, along_there, d);
        } else {
            EACH(o) w[o] -= eta * loss[o];
        }
        onto_ball(w, radius);
    }

    /* The update of the optimistic learners: the loss is the next hint. */
    __device__ __forceinline__ void hear(const Row loss)
    {
        const double eta = kind == OPTIMISTIC_FTRL ? -1.0 : 2.0 * radius * inverse_root(errors);
        double error = 0.0;
        Row along;
        read(along, expected_there, d);
        EACH(o) error += (loss[o] - along[o]) * (loss[o] - along[o]);
        errors += row_sum(error);
        read(along, along_there, d);
        EACH(o) along[o] -= eta * loss[o];
        if (kind == OPTIMISTIC_OMD) onto_ball(along, radius);
        write(along, along_there, d);
        write(loss, expected_there, d);
    }
};

/* Delta_t; `known` has the largest units of the blocks, a slot for each level. */
static __device__ __forceinline__ double unit_of(integer t, integer mode, const double *parts, integer n, double length, double lipschitz, double smoothness, double largest, double *known)
{
    double found = parts[t - 1];
    if (mode == FIXED) return found;
    if (mode == PRINTED) return found * (lipschitz + smoothness * largest);
    integer low = 1, level = 0;
    found += parts[n + t - 1] * length;
    for (; low < (t & -t); low *= 2, ++level) found = fmax(found, known[level]);
    if (threadIdx.x == 0) known[level] = found;
    __syncthreads();
    return found;
}

/* The noised sum of records 1 .. t, to value, which is what record t adds; sums and noised sums lie level by level. */
static __device__ __forceinline__ void released_sum(Row value, integer t, double scale, const Noise &noise, integer s, integer row, double *sums, double *noised, integer d)
{
    integer low = 1, level = 0, slot = -1;
    for (; low < (t & -t); low *= 2, ++level) EACH(o) if (coordinate(o) < d) value[o] += sums[level * d + coordinate(o)];
    const integer above = t - low;
    if (above > 0)
        for (slot = 0; !((above >> slot) & 1); ++slot) {}
    float z[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    EACH(o)
    {
        if (o % 4 == 0 && scale != 0.0) noise.normal(z, o, s, row);
        if (coordinate(o) >= d) continue;
        sums[level * d + coordinate(o)] = value[o];
        value[o] += scale * (double)z[o % 4];
        if (slot >= 0) value[o] += noised[slot * d + coordinate(o)];
        noised[level * d + coordinate(o)] = value[o];
    }
}

/* What an observer adds up over rounds: `observers.SUMS`. */
struct Watched {
    const double *best, *mean, *population;
    double *sums;
    integer curved, d;

    /* `more` is what is added to the released vector for the learner's loss. */
    __device__ __forceinline__ void add(const Row w, const Row x, const Row released, const Row more, double beta) const
    {
        double terms[4] = {0.0, 0.0, 0.0, 0.0};
        EACH(o) if (coordinate(o) < d)
        {
            const integer j = coordinate(o);
            const double away = w[o] - best[j], gradient = mean[j] + (curved ? population[j] * x[o] : 0.0);
            terms[0] += released[o] * away;
            terms[1] += (beta * gradient - released[o]) * away;
            terms[2] += more[o] * away;
            terms[3] += away * away;
        }
        add_up(terms);
        if (threadIdx.x > 0) return;
        sums[0] += terms[0];
        sums[1] += terms[1];
        sums[2] += fabs(terms[0]) + fabs(terms[1]);
        sums[3] += terms[0] + terms[2];
        sums[4] += beta * terms[3];
    }
};

/* Arguments as of `rounds.run_rounds`; `n` is the width of the parts of units. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) run_rounds(
    double *state, STEP_PARAMETERS, double *numbers, double *all_sums, double *all_noised, double *all_known, integer levels,
    const double *scale, integer first_round, const double *beta, const double *total_weight, double ridge, double half,
    integer mode, const double *parts, integer n, double lipschitz, double smoothness, integer clips,
    integer kind, double radius, const double *sizes, const double *starts, integer watched, const double *best,
    const double *mean, const double *population, integer population_curved, double *added)
{
    STEP_OBJECTS
    double *own = state + 7 * d * row, *sums = all_sums + levels * d * row, *noised = all_noised + levels * d * row;
    double *known = all_known + levels * row, largest = numbers[6 * row + 1];
    Learner learner = {kind, radius, numbers[6 * row], starts + d * row, own + 2 * d, own + 3 * d, d};
    const Watched seen = {best + d * row, mean + d * row, population, added + 8 * row, population_curved, d};
    Row x, loss, before;
    read(learner.w, own, d);
    read(x, own + d, d);
    for (integer s = 0; s < steps; ++s) {
        const integer t = first_round + s;
        const double share = t > 1 ? beta[t] / total_weight[t] : 0.0;
        learner.predict(t == 1);
        EACH(o)
        {
            before[o] = x[o];
            loss[o] = learner.w[o] - x[o];
            x[o] += share * loss[o];
        }
        const double length = mode != FIXED || clips ? sqrt(dot(loss, loss)) : 0.0;
        largest = fmax(largest, length);
        const double unit = unit_of(t, mode, parts, n, length, lipschitz, smoothness, largest, known);
        EACH(o) loss[o] = 0.0;
        if (slope != NO_SLOPE) {
            const integer i = records.at(s, row, 0);
            double margins[2] = {0.0, 0.0};
            records.features_of(loss, i);
            if (slope != CONSTANT) {
                EACH(o) margins[0] += x[o] * loss[o], margins[1] += before[o] * loss[o];
                add_up(margins);
            }
            const double now = beta[t] * form.slope(margins[0], labels[i]);
            const double then = beta[t - 1] * form.slope(margins[1], labels[i]);
            EACH(o) loss[o] *= now - then;
        }
        if (curved) EACH(o) if (coordinate(o) < d)
        {
            const double c = centre[coordinate(o)];
            loss[o] += hessian[coordinate(o)] * (beta[t] * (x[o] - c) - beta[t - 1] * (before[o] - c));
        }
        if (clips) {
            const double level = 0.5 * (parts[2 * n + t - 1] + parts[3 * n + t - 1] * length);
            const double cut = fmin(1.0, level / fmax(sqrt(dot(loss, loss)), TINY));
            EACH(o) loss[o] *= cut;
        }
        if (watched) EACH(o) if (coordinate(o) < d) own[4 * d + coordinate(o)] += loss[o];
        released_sum(loss, t, unit * scale[s], noise, s, row, sums, noised, d);
        if (watched && s + 1 == steps) write(loss, own + 5 * d, d);
        EACH(o) before[o] = beta[t] * (ridge * x[o] + half * (learner.w[o] - x[o]));
        if (watched) seen.add(learner.w, x, loss, before, beta[t]);
        EACH(o) loss[o] += before[o];
        if (watched && s + 1 == steps) write(loss, own + 6 * d, d);
        learner.update(loss, sizes[t]);
    }
    write(learner.w, own, d);
    write(x, own + d, d);
    if (threadIdx.x == 0) {
        numbers[6 * row] = learner.errors;
        numbers[6 * row + 1] = largest;
    }
}
