// Ordinary loads and stores of each width: by a scalar, by every lane in another order, and under the mask p.a.
#pragma once

#include "gpu/twins/twin.cuh"

namespace megakittens::twins {

/// A permutation of the lanes.
MK_DEVICE Lanes<uint32_t> other_lane() {
  return (lane_index() * 7u + 3u) % 32u;
}
MK_DEVICE Lanes<bool> case_mask(const Parameters& p) {
  return (p.a >> lane_index() & 1u) != 0u;
}
template <class T, int N>
MK_DEVICE Words<N> otherwise_words() {
  Words<N> words;
  for (int i = 0; i < N; i++) words.w[i] = lane_index() * 3u + static_cast<uint32_t>(i);
  return words;
}

// Parts of the output, 32 elements each: every lane; a masked store; a masked load; the scalar, once.
#define MK_GLOBAL_WIDTH(WIDTH, T)                                                                             \
  MK_TWIN(twin_global_##WIDTH, 32) {                                                                          \
    constexpr uint32_t kPart = 32 * sizeof(T);                                                                \
    const Lanes<uint32_t> here = lane_index() * uint32_t{sizeof(T)}, there = other_lane() * uint32_t{sizeof(T)}; \
    const Lanes<bool> mask = case_mask(p);                                                                    \
    ptx::st_global_##WIDTH(p.out, here, ptx::ld_global_##WIDTH(p.in, there));                                 \
    ptx::st_global_##WIDTH(p.out + kPart, there, ptx::ld_global_##WIDTH(p.in, here), mask);                   \
    const Lanes<T> otherwise = convert<T>(lane_index() + 200u);                                               \
    ptx::st_global_##WIDTH(p.out + 2 * kPart, here, ptx::ld_global_##WIDTH(p.in, there, mask, otherwise));    \
    const T one = ptx::ld_global_##WIDTH(p.in + 5 * sizeof(T));                                               \
    one_lane([&] { ptx::st_global_##WIDTH(p.out + 3 * kPart, one); });                                        \
  }                                                                                                           \
  static_assert(true)
MK_GLOBAL_WIDTH(u8, uint8_t);
MK_GLOBAL_WIDTH(u16, uint16_t);
MK_GLOBAL_WIDTH(u32, uint32_t);
MK_GLOBAL_WIDTH(u64, uint64_t);

#define MK_GLOBAL_VECTOR(WIDTH, N)                                                                               \
  MK_TWIN(twin_global_##WIDTH, 32) {                                                                             \
    constexpr uint32_t kPart = 32 * 4 * N;                                                                       \
    const Lanes<uint32_t> here = lane_index() * (4u * N), there = other_lane() * (4u * N);                       \
    const Lanes<bool> mask = case_mask(p);                                                                       \
    ptx::st_global_##WIDTH(p.out, here, ptx::ld_global_##WIDTH(p.in, there));                                    \
    ptx::st_global_##WIDTH(p.out + kPart, there, ptx::ld_global_##WIDTH(p.in, here), mask);                      \
    ptx::st_global_##WIDTH(p.out + 2 * kPart, here,                                                              \
                           ptx::ld_global_##WIDTH(p.in, there, mask, otherwise_words<uint32_t, N>()));           \
  }                                                                                                              \
  static_assert(true)
MK_GLOBAL_VECTOR(v2, 2);
MK_GLOBAL_VECTOR(v4, 4);

MK_TWIN(twin_global_nc_v4, 32) {
  ptx::st_global_v4(p.out, lane_index() * 16u, ptx::ld_global_nc_v4(p.in, other_lane() * 16u));
}

// The same parts, made in shared memory, where every lane's store fills the first two and is then covered under a mask.
#define MK_SHARED_WIDTH(WIDTH, T)                                                                                 \
  MK_TWIN(twin_shared_##WIDTH, 32) {                                                                              \
    constexpr uint32_t kPart = 32 * sizeof(T);                                                                    \
    const Lanes<uint32_t> here = lane_index() * uint32_t{sizeof(T)}, there = other_lane() * uint32_t{sizeof(T)};  \
    const Lanes<bool> mask = case_mask(p);                                                                        \
    const uint32_t base = ptx::dynamic_shared_base();                                                             \
    const Lanes<T> value = ptx::ld_global_##WIDTH(p.in, here);                                                    \
    ptx::st_shared_##WIDTH(there + base, value);                                                                  \
    ptx::st_shared_##WIDTH(here + base + kPart, value);                                                           \
    ptx::st_shared_##WIDTH(there + base + kPart, ptx::ld_global_##WIDTH(p.in + kPart, here), mask);               \
    ptx::syncwarp();                                                                                              \
    ptx::st_global_##WIDTH(p.out, here, ptx::ld_shared_##WIDTH(here + base));                                     \
    ptx::st_global_##WIDTH(p.out + kPart, here, ptx::ld_shared_##WIDTH(here + base + kPart));                     \
    const Lanes<T> otherwise = convert<T>(lane_index() + 200u);                                                   \
    ptx::st_global_##WIDTH(p.out + 2 * kPart, here, ptx::ld_shared_##WIDTH(there + base, mask, otherwise));       \
    ptx::syncwarp();                                                                                              \
    one_lane([&] { ptx::st_shared_##WIDTH(base + 8, ptx::ld_shared_##WIDTH(base + kPart)); });                    \
    ptx::st_global_##WIDTH(p.out + 3 * kPart, here, ptx::ld_shared_##WIDTH(here + base));                         \
  }                                                                                                               \
  static_assert(true)
MK_SHARED_WIDTH(u8, uint8_t);
MK_SHARED_WIDTH(u16, uint16_t);
MK_SHARED_WIDTH(u32, uint32_t);
MK_SHARED_WIDTH(u64, uint64_t);

#define MK_SHARED_VECTOR(WIDTH, N)                                                                                 \
  MK_TWIN(twin_shared_##WIDTH, 32) {                                                                               \
    constexpr uint32_t kPart = 32 * 4 * N;                                                                         \
    const Lanes<uint32_t> here = lane_index() * (4u * N), there = other_lane() * (4u * N);                         \
    const Lanes<bool> mask = case_mask(p);                                                                         \
    const uint32_t base = ptx::dynamic_shared_base();                                                              \
    const Words<N> value = ptx::ld_global_##WIDTH(p.in, here);                                                     \
    ptx::st_shared_##WIDTH(there + base, value);                                                                   \
    ptx::st_shared_##WIDTH(here + base + kPart, value);                                                            \
    ptx::st_shared_##WIDTH(there + base + kPart, ptx::ld_global_##WIDTH(p.in + kPart, here), mask);                \
    ptx::syncwarp();                                                                                               \
    ptx::st_global_##WIDTH(p.out, here, ptx::ld_shared_##WIDTH(here + base));                                      \
    ptx::st_global_##WIDTH(p.out + kPart, here, ptx::ld_shared_##WIDTH(here + base + kPart));                      \
    ptx::st_global_##WIDTH(p.out + 2 * kPart, here,                                                                \
                           ptx::ld_shared_##WIDTH(there + base, mask, otherwise_words<uint32_t, N>()));            \
  }                                                                                                                \
  static_assert(true)
MK_SHARED_VECTOR(v2, 2);
MK_SHARED_VECTOR(v4, 4);

/// ldmatrix and stmatrix: rows of 16 bytes in another order. p.a: 1 load, 2 store is transposed.
MK_TWIN(twin_matrix, 32) {
  const uint32_t base = ptx::dynamic_shared_base();
  fill_shared(p, base, 512);
  ptx::syncwarp();
  const Lanes<uint32_t> from = other_lane() * 16u + base, to = lane_index() * 16u + base + 512u;
  const Words<4> words = (p.a & 1) != 0 ? ptx::ldmatrix_x4_trans(from) : ptx::ldmatrix_x4(from);
  for (uint32_t t = 0; t < 4; t++) word_out(p, 32 * t, words.w[t]);
  if ((p.a & 2) != 0)
    ptx::stmatrix_x4_trans(to, words);
  else
    ptx::stmatrix_x4(to, words);
  ptx::syncwarp();
  copy_out(p, base + 512, 512, 512);
}

}  // namespace megakittens::twins
