// hip-sim: the launch parameters of a kernel thread, and the collective operations of a wave.
// `Frame` mirrors crates/hip-sim/src/frame.rs.
#pragma once

typedef __SIZE_TYPE__ size_t;
extern "C" void* memcpy(void*, const void*, size_t);

namespace hip_sim {

struct Extent { unsigned x, y, z; };
struct alignas(64) Slot { unsigned char data[64]; };
// Bit masks over lanes: the participants of the last operation, the side of its slots that each wrote its value to, and
// the side it writes to next. Two sides, so that a fast lane does not overwrite a value that a slow one still reads; one
// bit per lane, because lanes that diverged have executed fewer operations than the others.
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

// The slot that this lane writes to, and the slot that `lane` wrote to in the last operation.
static inline Slot& own_slot() {
  return hip_sim_frame.slots[(hip_sim_frame.exchange->next_sides >> hip_sim_frame.lane & 1) * 64 + hip_sim_frame.lane];
}
static inline Slot& slot_of(unsigned lane) { return hip_sim_frame.slots[(hip_sim_frame.exchange->sides >> lane & 1) * 64 + lane]; }
static inline bool participated(unsigned lane) { return lane < hip_sim_frame.wave_size && (hip_sim_frame.exchange->mask >> lane & 1); }

// The value of lane `source`; the own value when that lane did not participate. `site` is the position of the operation in
// the source, by which lanes that diverged are ordered.
template <class T> static inline T shuffle(T value, unsigned source, unsigned site) {
  static_assert(sizeof(T) <= sizeof(Slot), "a lane shares at most 64 bytes");
  memcpy(own_slot().data, &value, sizeof(T));
  hip_sim_frame.wave_barrier(site);
  if (participated(source)) memcpy(&value, slot_of(source).data, sizeof(T));
  return value;
}

static inline unsigned long long ballot(bool predicate, unsigned site) {
  own_slot().data[0] = predicate;
  hip_sim_frame.wave_barrier(site);
  unsigned long long bits = 0;
  for (unsigned lane = 0; lane < hip_sim_frame.wave_size; lane++)
    if (participated(lane) && slot_of(lane).data[0]) bits |= 1ull << lane;
  return bits;
}

// Outside the wave a shuffle returns the own value.
static inline unsigned lane_up(unsigned delta) { return delta > hip_sim_frame.lane ? hip_sim_frame.lane : hip_sim_frame.lane - delta; }
static inline unsigned lane_down(unsigned delta) {
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

// Exports the number of arguments, one thread (for kernels with barriers: each is a fiber), and the grid as a loop (for
// kernels without barriers).
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
