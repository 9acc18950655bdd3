// What the lanes of a warp do together, and special registers. Values that only a machine can know are turned into
// statements that hold on both.
#pragma once

#include "gpu/twins/twin.cuh"

namespace megakittens::twins {

MK_DEVICE Lanes<uint32_t> truth(Lanes<bool> x) {
  return convert<uint32_t>(x);
}

/// Every exchange of the input's first 32 words, and of values of each size.
MK_TWIN(twin_exchange, 32) {
  const Lanes<uint32_t> word = word_in(p, 0), index = word_in(p, 32);
  for (uint32_t mask = 0; mask < 32; mask++) word_out(p, 32 * mask, ptx::shfl_sync_bfly(word, mask));
  word_out(p, 32 * 32, ptx::shfl_sync_idx(word, index));
  const Lanes<uint64_t> wide = convert<uint64_t>(word) * uint64_t{0x100000001} + convert<uint64_t>(index);
  ptx::st_global_u64(p.out + 33 * 128, lane_index() * 8u, shuffle_xor(wide, 5));
  ptx::st_global_u64(p.out + 35 * 128, lane_index() * 8u, shuffle_index(wide, index));
  ptx::st_global_u16(p.out + 37 * 128, lane_index() * 2u, shuffle_xor(convert<uint16_t>(word & 0xffffu), 9));
  ptx::st_global_u8(p.out + 38 * 128, lane_index(), shuffle_index(convert<uint8_t>(word & 0xffu), index));
  word_out(p, 32 * 39, bit_cast<uint32_t>(warp_sum(convert<float>(word & 0xffu))));
  word_out(p, 32 * 40, bit_cast<uint32_t>(warp_max(bit_cast<float>(word))));
  word_out(p, 32 * 41, ptx::laneid());
}

/// Votes on each of 32 words' lowest bits, and the single lane.
MK_TWIN(twin_vote, 32) {
  for (uint32_t i = 0; i < 32; i++) {
    const Lanes<bool> value = (word_in(p, 32 * i) & 1u) != 0u;
    word_out(p, 32 * i, Lanes<uint32_t>(ptx::vote_sync_ballot(value)));
    word_out(p, 32 * (32 + i), Lanes<uint32_t>(uint32_t{any(value)} + 2 * uint32_t{all(value)}));
  }
  const uint32_t first = ptx::vote_sync_ballot(ptx::elect_one()), second = ptx::vote_sync_ballot(ptx::elect_one());
  const bool single = first != 0 && (first & (first - 1)) == 0 && first == second;
  word_out(p, 32 * 64, Lanes<uint32_t>(uint32_t{single}));
  uint32_t calls = 0;
  one_lane([&] { calls++; });
  // Lanes that did not run it still have zero on the GPU; the host has one of each.
  word_out(p, 32 * 65, Lanes<uint32_t>(uint32_t{any(Lanes<uint32_t>(calls) == 1u)}));
  word_out(p, 32 * 66, Lanes<uint32_t>(one_lane_value([&] { return uint32_t{0x12345678}; })));
  const uint64_t wide = one_lane_value([&] { return uint64_t{0x123456789abcdef0}; });
  ptx::st_global_u64(p.out + 67 * 128, lane_index() * 8u, Lanes<uint64_t>(wide));
}

/// Stores of each lane seen by the others after syncwarp.
MK_TWIN(twin_syncwarp, 32) {
  const Lanes<uint32_t> place = lane_index() * 4u + ptx::dynamic_shared_base();
  for (uint32_t i = 0; i < 64; i++) {
    ptx::st_shared_u32(place, word_in(p, 0) + i);
    ptx::syncwarp();
    word_out(p, 32 * i, ptx::ld_shared_u32((lane_index() * 5u + i) % 32u * 4u + ptx::dynamic_shared_base()));
    ptx::syncwarp();
  }
}

/// Warp w of CTA c writes a row of 16 words.
MK_TWIN(twin_special, 128) {
  const uint32_t row = (ptx::ctaid_x() * 4 + warp_number()) * 16;
  const uint64_t clock = ptx::clock64(), time = ptx::globaltimer();
  ptx::nanosleep(100);
  const bool clocks = ptx::clock64() >= clock && ptx::globaltimer() >= time;
  const bool on_an_sm = ptx::smid() < 1024;
#if MK_ON_GPU
  const uint32_t warp = ptx::warp_index();  // the twin is a hook, not a function of ptx
#else
  const uint32_t warp = device::host::warp_index();
#endif
  const Lanes<uint32_t> words[] = {ptx::ctaid_x(),
                                   ptx::nctaid_x(),
                                   ptx::cluster_ctarank(),
                                   ptx::cluster_nctarank(),
                                   uint32_t{clocks},
                                   uint32_t{on_an_sm},
                                   ptx::dynamic_shared_base() % 1024u,
                                   warp};
  for (uint32_t i = 0; i < 8; i++)
    ptx::st_global_u32(p.out, (lane_index() + row + i) * 4u, words[i], lane_index() == 0u);
  ptx::st_global_u32(p.out, (lane_index() + row + 8) * 4u, ptx::tid_x(), lane_index() < 8u);
}

/// The fixed words of cache_policies.hpp are what the machine makes.
MK_TWIN(twin_cache_policy, 32) {
  const uint64_t words[] = {ptx::createpolicy_evict_first(), ptx::createpolicy_evict_last()};
  for (uint32_t i = 0; i < 2; i++) ptx::st_global_u64(p.out + 256 * i, lane_index() * 8u, Lanes<uint64_t>(words[i]));
}

/// The launch ends in an error.
MK_TWIN(twin_trap, 32) {
  if (warp_uniform(word_in(p, 0)) == p.a) ptx::trap();
}

}  // namespace megakittens::twins
