/* CUDA source as plain C++: blocks one after the other; with SHIM_THREADS the threads of a block
   side by side, else there must be one per block. */
#include <cmath>
#define __global__
#define __device__
#define __forceinline__ inline
struct Index { unsigned x, y, z; };
static Index blockDim;
static thread_local Index blockIdx, threadIdx;

#ifdef SHIM_THREADS
#include <barrier>
#include <thread>
#include <vector>
struct alignas(16) double2 { double x, y; };
#define SHARED_MEMORY alignas(16) static double shared[1 << 16];
static std::barrier<> *shim_barrier;
static inline void __syncthreads() { shim_barrier->arrive_and_wait(); }

template <typename F> static void shim_launch(unsigned blocks, unsigned threads, F kernel)
{
    blockDim = {threads, 1, 1};
    std::barrier<> barrier(threads);
    shim_barrier = &barrier;
    auto run = [&](unsigned thread) {
        threadIdx = {thread, 0, 0};
        for (unsigned block = 0; block < blocks; block++) {
            blockIdx = {block, 0, 0};
            kernel();
            __syncthreads();
        }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; i++)
        others.emplace_back(run, i);
    run(0);
    for (auto &other : others)
        other.join();
}
#else
template <typename F> static void shim_launch(unsigned blocks, unsigned, F kernel)
{
    blockDim = {1, 1, 1};
    for (unsigned block = 0; block < blocks; block++) {
        blockIdx = {block, 0, 0};
        kernel();
    }
}
#endif
