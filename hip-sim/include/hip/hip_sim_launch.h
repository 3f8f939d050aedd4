// hip-sim: what a thread of a kernel sees of its launch, and the operations in which a wave takes part.
// `Frame` mirrors hip-sim/src/launch/frame.rs.
#pragma once

typedef __SIZE_TYPE__ size_t;
extern "C" void* memcpy(void*, const void*, size_t);

namespace hip_sim {

struct Extent { unsigned x, y, z; };
struct alignas(64) Slot { unsigned char data[64]; };
// Bits of lanes: those that took part in the operation just ended, on which side of its slots each gave its value then,
// and on which side it gives the next one. A fast lane must not write where a slow one still reads, and lanes that
// diverged have not made as many operations as the others.
struct Exchange { unsigned long long mask, sides, next_sides; };

struct Frame {
  Extent thread, block, block_extent, grid_extent;
  unsigned lane, wave_size;
  void (*wave_barrier)(unsigned site);
  void (*block_barrier)();
  Slot* slots;          // two sides of 64
  Exchange* exchange;
  unsigned char* shared;
};

}  // namespace hip_sim

extern "C" {
__attribute__((visibility("hidden"))) hip_sim::Frame hip_sim_frame;
__attribute__((visibility("default"))) hip_sim::Frame* hip_sim_get_frame() { return &hip_sim_frame; }
}

namespace hip_sim {

// Where this lane gives its value, and where `lane` gave it in the operation just ended.
static inline Slot& own_slot() {
  return hip_sim_frame.slots[(hip_sim_frame.exchange->next_sides >> hip_sim_frame.lane & 1) * 64 + hip_sim_frame.lane];
}
static inline Slot& slot_of(unsigned lane) { return hip_sim_frame.slots[(hip_sim_frame.exchange->sides >> lane & 1) * 64 + lane]; }
static inline bool took_part(unsigned lane) { return lane < hip_sim_frame.wave_size && (hip_sim_frame.exchange->mask >> lane & 1); }

// The value that lane `source` gave; the own one when it took no part. `site` orders operations of lanes that diverged.
template <class T> static inline T trade(T value, unsigned source, unsigned site) {
  static_assert(sizeof(T) <= sizeof(Slot), "a lane trades at most 64 bytes");
  memcpy(own_slot().data, &value, sizeof(T));
  hip_sim_frame.wave_barrier(site);
  if (took_part(source)) memcpy(&value, slot_of(source).data, sizeof(T));
  return value;
}

static inline unsigned long long ballot(bool predicate, unsigned site) {
  own_slot().data[0] = predicate;
  hip_sim_frame.wave_barrier(site);
  unsigned long long bits = 0;
  for (unsigned lane = 0; lane < hip_sim_frame.wave_size; lane++)
    if (took_part(lane) && slot_of(lane).data[0]) bits |= 1ull << lane;
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
