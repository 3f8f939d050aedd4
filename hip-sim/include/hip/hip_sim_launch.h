// hip-sim: what a thread of a kernel sees of its launch, and the operations in which a wave takes part.
// `Frame` mirrors hip-sim/src/launch/frame.rs.
#pragma once

typedef __SIZE_TYPE__ size_t;
extern "C" void* memcpy(void*, const void*, size_t);

namespace hip_sim {

struct Extent { unsigned x, y, z; };
struct alignas(64) Slot { unsigned char data[64]; };
struct Exchange { unsigned parity; unsigned long long mask; };

struct Frame {
  Extent thread, block, block_extent, grid_extent;
  unsigned lane, wave_size;
  void (*wave_barrier)(unsigned site);
  void (*block_barrier)();
  Slot* slots;          // two sets of 64, used in turn: a fast lane must not write what a slow one still reads
  Exchange* exchange;   // which set is in use, and the lanes that took part in the operation just ended
  unsigned char* shared;
};

}  // namespace hip_sim

extern "C" {
__attribute__((visibility("hidden"))) hip_sim::Frame hip_sim_frame;
__attribute__((visibility("default"))) hip_sim::Frame* hip_sim_get_frame() { return &hip_sim_frame; }
}

namespace hip_sim {

// The value that lane `source` gave; the own one when it took no part. `site` orders operations of lanes that diverged.
template <class T> static inline T trade(T value, unsigned source, unsigned site) {
  static_assert(sizeof(T) <= sizeof(Slot), "a lane trades at most 64 bytes");
  Slot* slots = hip_sim_frame.slots + hip_sim_frame.exchange->parity * 64;
  memcpy(slots[hip_sim_frame.lane].data, &value, sizeof(T));
  hip_sim_frame.wave_barrier(site);
  if (source >= hip_sim_frame.wave_size || !((hip_sim_frame.exchange->mask >> source) & 1)) return value;
  T traded;
  memcpy(&traded, slots[source].data, sizeof(T));
  return traded;
}

static inline unsigned long long ballot(bool predicate, unsigned site) {
  Slot* slots = hip_sim_frame.slots + hip_sim_frame.exchange->parity * 64;
  slots[hip_sim_frame.lane].data[0] = predicate;
  hip_sim_frame.wave_barrier(site);
  unsigned long long bits = 0, mask = hip_sim_frame.exchange->mask;
  for (unsigned lane = 0; lane < hip_sim_frame.wave_size; lane++)
    if ((mask >> lane & 1) && slots[lane].data[0]) bits |= 1ull << lane;
  return bits;
}

static inline unsigned above(unsigned delta) { return delta > hip_sim_frame.lane ? hip_sim_frame.lane : hip_sim_frame.lane - delta; }
static inline unsigned below(unsigned delta) {
  return hip_sim_frame.lane + delta >= hip_sim_frame.wave_size ? hip_sim_frame.lane : hip_sim_frame.lane + delta;
}

// ---- calling a kernel with the array of pointers to its arguments -----------
template <unsigned... I> struct Indices {};
template <unsigned N, unsigned... I> struct CountTo : CountTo<N - 1, N - 1, I...> {};
template <unsigned... I> struct CountTo<0, I...> { typedef Indices<I...> type; };
template <class... A, unsigned... I>
static inline __attribute__((always_inline)) void call(void (*kernel)(A...), void** a, Indices<I...>) { kernel(*(A*)a[I]...); }
template <class... A>
static inline __attribute__((always_inline)) void call(void (*kernel)(A...), void** a) { call(kernel, a, typename CountTo<sizeof...(A)>::type()); }
template <class... A> static constexpr unsigned count(void (*)(A...)) { return sizeof...(A); }

}  // namespace hip_sim

// One thread (with barriers: a fiber each), the whole grid as a loop (without), and how many arguments there are.
#define HIP_SIM_EXPORT(kernel) \
  extern "C" __attribute__((visibility("default"))) unsigned hip_sim_count_##kernel() { return hip_sim::count(kernel); } \
  extern "C" __attribute__((visibility("default"))) void hip_sim_thread_##kernel(void** a) { hip_sim::call(kernel, a); } \
  extern "C" __attribute__((visibility("default"))) void hip_sim_grid_##kernel(void** a) { \
    hip_sim::Extent g = hip_sim_frame.grid_extent, b = hip_sim_frame.block_extent; \
    for (unsigned bz = 0; bz < g.z; bz++) for (unsigned by = 0; by < g.y; by++) for (unsigned bx = 0; bx < g.x; bx++) { \
      hip_sim_frame.block = {bx, by, bz}; \
      unsigned rank = 0; \
      for (unsigned z = 0; z < b.z; z++) for (unsigned y = 0; y < b.y; y++) for (unsigned x = 0; x < b.x; x++) { \
        hip_sim_frame.thread = {x, y, z}; \
        hip_sim_frame.lane = rank++ & (hip_sim_frame.wave_size - 1); \
        hip_sim::call(kernel, a); } } }
