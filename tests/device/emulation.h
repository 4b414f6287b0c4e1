/* The CUDA that the kernels use, on a CPU: one fibre for each thread of a block, the blocks one after another.

   Threads meet at shuffles and barriers; between two of them each runs alone, from the first to the last or, with
   `backwards`, from the last to the first: what depends on the order is a race. A thread that leaves while others wait
   for it, and an argument of another size than the kernel's, end the launch with an error. */
#pragma once
#include <ucontext.h>

#include <cmath>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

struct Index {
    unsigned x, y, z;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {
struct Fibre {
    jmp_buf context;
    std::vector<char> stack;
    bool started, done;
    long arrivals[2]; /* at meetings of its warp, and of the block */
    unsigned long long posted[2];
};

static std::vector<Fibre> fibres;
static jmp_buf scheduler;
static ucontext_t origin;
static unsigned current;
static bool stuck, moved, backwards;
static void (*body)(void *);
static void *arguments;

inline void leave()
{
    if (!_setjmp(fibres[current].context)) _longjmp(scheduler, 1);
}

static void run()
{
    body(arguments);
    fibres[current].done = true;
    _longjmp(scheduler, 1);
}

/* Wait until all threads first .. last - 1 have come to as many meetings of the kind as this one. */
inline void meet(int kind, unsigned first, unsigned last)
{
    long mine = ++fibres[current].arrivals[kind];
    moved = true;
    for (unsigned i = first; i < last; ++i)
        while (fibres[i].arrivals[kind] < mine) leave();
}

inline void meet_warp()
{
    unsigned warp = current & ~31u;
    meet(0, warp, warp + 32 < blockDim.x ? warp + 32 : blockDim.x);
}

inline void resume(unsigned i)
{
    Fibre &fibre = fibres[i];
    current = i;
    threadIdx = {i, 0, 0};
    if (_setjmp(scheduler)) return;
    if (fibre.started) _longjmp(fibre.context, 1);
    fibre.started = true;
    ucontext_t fresh;
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = fibre.stack.data();
    fresh.uc_stack.ss_size = fibre.stack.size();
    fresh.uc_link = &origin;
    makecontext(&fresh, run, 0);
    setcontext(&fresh);
}

static void run_block(unsigned block)
{
    fibres.resize(block);
    for (Fibre &fibre : fibres) {
        fibre.stack.resize(1 << 17);
        fibre.started = fibre.done = false;
        fibre.arrivals[0] = fibre.arrivals[1] = 0;
    }
    for (unsigned left = block; left && !stuck;) {
        moved = false;
        for (unsigned i = 0; i < block; ++i) {
            unsigned chosen = backwards ? block - 1 - i : i;
            if (fibres[chosen].done) continue;
            resume(chosen);
            if (fibres[chosen].done) --left, moved = true;
        }
        stuck = !moved;
    }
}

/* Run a kernel; 0, or 1 for threads that never meet, or 2 for arguments of another number or size. */
template <class... Types, size_t... At>
int launch_as(void (*kernel)(Types...), unsigned grid, unsigned block, bool reverse, int count, const int *sizes,
              void **values, std::index_sequence<At...>)
{
    int expected[] = {(int)sizeof(Types)..., 0};
    if (count != (int)sizeof...(Types)) return 2;
    for (int i = 0; i < count; ++i)
        if (sizes[i] != expected[i]) return 2;
    auto call = [&] { kernel(*(Types *)values[At]...); };
    body = [](void *it) { (*(decltype(call) *)it)(); };
    arguments = &call;
    blockDim = {block, 1, 1};
    gridDim = {grid, 1, 1};
    backwards = reverse;
    stuck = false;
    for (unsigned b = 0; b < grid && !stuck; ++b) {
        blockIdx = {b, 0, 0};
        run_block(block);
    }
    return stuck;
}

template <class... Types>
int launch(void (*kernel)(Types...), unsigned grid, unsigned block, bool reverse, int count, const int *sizes, void **values)
{
    return launch_as(kernel, grid, block, reverse, count, sizes, values, std::index_sequence_for<Types...>{});
}

template <class T>
T exchange(T value, unsigned from)
{
    unsigned me = current, warp = me & ~31u;
    int turn = (fibres[me].arrivals[0] + 1) & 1;
    std::memcpy(&fibres[me].posted[turn], &value, sizeof value);
    meet_warp();
    T found;
    std::memcpy(&found, &fibres[warp + from].posted[turn], sizeof found);
    return found;
}
} // namespace emulation

#define EMULATED(name)                                                                                           \
    extern "C" int launch_##name(unsigned grid, unsigned block, bool reverse, int count, const int *sizes, void **values) \
    {                                                                                                            \
        return emulation::launch(name, grid, block, reverse, count, sizes, values);                              \
    }

inline void __syncthreads() { emulation::meet(1, 0, blockDim.x); }
inline void __syncwarp(unsigned = 0xffffffffu) { emulation::meet_warp(); }
template <class T>
T __shfl_xor_sync(unsigned, T value, int other)
{
    return emulation::exchange(value, (emulation::current & 31) ^ other);
}
template <class T>
T __shfl_sync(unsigned, T value, int lane)
{
    return emulation::exchange(value, lane & 31);
}

inline unsigned __float_as_uint(float x)
{
    unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float __uint_as_float(unsigned bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
