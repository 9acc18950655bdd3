// Words through which CTAs speak to each other. The output begins with counters (zero at first, 128 bytes each); what
// depends on who came first is turned into what does not.
#pragma once

#include "gpu/twins/twin.cuh"

namespace megakittens::twins {

MK_DEVICE uint32_t* counter(const Parameters& p, uint32_t i) {
  return reinterpret_cast<uint32_t*>(p.out + 128 * i);
}
MK_DEVICE char* row(const Parameters& p, uint32_t i) {
  return p.out + 128 * (8 + i);
}
/// Waits until a counter has reached a value, by acquiring loads or by relaxed ones and a fence.
MK_DEVICE void reach(const uint32_t* word, uint32_t value, uint32_t how) {
  const Patience patience;
  one_lane([&] {
    if (how == 0)
      while (ptx::ld_acquire_gpu_u32(word) < value) patience.spend();
    else
      while (ptx::ld_relaxed_gpu_u32(word) < value) patience.spend();
    if (how == 1) ptx::fence_acq_rel_gpu();
    if (how == 2) ptx::fence_sc_gpu();
    if (how == 3) ptx::fence_acq_rel_sys();
  });
}
MK_DEVICE void raise(uint32_t* word, uint32_t how) {
  one_lane([&] {
    if (how == 1) ptx::fence_acq_rel_gpu();
    if (how == 2) ptx::fence_sc_gpu();
    if (how == 3) ptx::fence_acq_rel_sys();
    if (how == 0)
      ptx::red_release_gpu_add_u32(word, 1);
    else
      ptx::red_relaxed_gpu_add_u32(word, 1);
  });
}

/// Every CTA writes a row, raises the counter and reads its neighbour's row when all have. p.a: with which pair of
/// instructions.
MK_TWIN(twin_counter, 32) {
  const uint32_t cta = ptx::ctaid_x(), ctas = ptx::nctaid_x();
  ptx::st_global_u32(row(p, cta), lane_index() * 4u, word_in(p, 32 * cta));
  ptx::syncwarp();
  ptx::fence_acq_rel_cta();
  ptx::fence_acq_rel_cluster();
  raise(counter(p, 0), p.a);
  reach(counter(p, 0), ctas, p.a);
  const Lanes<uint32_t> got = ptx::ld_global_u32(row(p, (cta + 1) % ctas), lane_index() * 4u);
  ptx::st_global_u32(row(p, ctas + cta), lane_index() * 4u, got + 1u);
}

/// Atomics: tickets are all different, the last to come sees every row, one of all exchanges succeeds.
MK_TWIN(twin_atomics, 32) {
  const uint32_t cta = ptx::ctaid_x(), ctas = ptx::nctaid_x();
  const uint32_t ticket = one_lane_value([&] { return ptx::atom_relaxed_gpu_add_u32(counter(p, 0), 1); });
  ptx::st_global_u32(row(p, ticket), lane_index() * 4u, lane_index() + ticket);
  const uint32_t before = one_lane_value([&] { return ptx::atom_acq_rel_gpu_add_u32(counter(p, 1), 1); });
  if (before == ctas - 1) {
    Lanes<uint32_t> sum = 0u;
    for (uint32_t i = 0; i < ctas; i++) sum += ptx::ld_global_u32(row(p, i), lane_index() * 4u);
    ptx::st_global_u32(row(p, ctas), lane_index() * 4u, sum);
  }
  one_lane([&] {
    if (ptx::atom_relaxed_gpu_cas_u32(counter(p, 2), 0, 77) == 0) ptx::red_relaxed_gpu_add_u32(counter(p, 3), 1);
    if (ptx::atom_relaxed_gpu_cas_u32(counter(p, 4), 5 + cta, 99) == 5 + cta)
      ptx::red_relaxed_gpu_add_u32(counter(p, 3), 100);
  });
}

/// A word handed from CTA to CTA in a chain, by a released store and by relaxed stores to both kinds of memory.
MK_TWIN(twin_chain, 32) {
  const uint32_t cta = ptx::ctaid_x(), ctas = ptx::nctaid_x();
  Lanes<uint32_t> got = word_in(p, 0);
  if (cta > 0) {
    reach(counter(p, cta - 1), 1, 0);
    got = ptx::ld_global_u32(row(p, cta - 1), lane_index() * 4u);
  }
  ptx::st_global_u32(row(p, cta), lane_index() * 4u, got * 3u + 1u);
  one_lane([&] {
    if (cta + 1 < ctas) ptx::st_release_gpu_u32(counter(p, cta), 1);
    ptx::st_relaxed_gpu_u32(counter(p, cta) + 1, 100 + cta);
    ptx::st_relaxed_sys_u32(counter(p, cta) + 2, 200 + cta);
  });
}

/// Flagged words: half a word of data and half of the flag p.b, written and polled by every lane of the mask p.a.
MK_TWIN(twin_flagged, 32) {
  const uint32_t cta = ptx::ctaid_x(), ctas = ptx::nctaid_x();
  const Lanes<uint64_t> at = convert<uint64_t>(lane_index() * 8u);
  const Lanes<bool> mask = (p.a >> lane_index() & 1u) != 0u;
  const Lanes<uint64_t> word = convert<uint64_t>(word_in(p, 32 * cta)) << 32 | uint64_t{p.b};
  ptx::st_relaxed_gpu_u64(row(p, 2 * cta), at, word, mask);
  one_lane([&] { ptx::st_relaxed_gpu_u64(reinterpret_cast<uint64_t*>(counter(p, 0)) + cta, uint64_t{p.b} + cta); });
  const uint32_t other = (cta + 1) % ctas;
  const Lanes<uint64_t> otherwise = convert<uint64_t>(lane_index()) << 32 | uint64_t{p.b};
  Lanes<uint64_t> got = otherwise;
  const Patience patience;
  do {
    patience.spend();
    got = ptx::ld_relaxed_gpu_u64(row(p, 2 * other), at, mask, otherwise);
  } while (!all((got & uint64_t{0xffffffff}) == uint64_t{p.b}));
  ptx::st_global_u64(row(p, 2 * (ctas + cta)), at, got);
  const uint64_t* single = reinterpret_cast<const uint64_t*>(counter(p, 0)) + other;
  one_lane([&] {
    const Patience again;
    while (ptx::ld_relaxed_gpu_u64(single) != uint64_t{p.b} + other) again.spend();
  });
  // Every lane's own words, now that both are known to be there.
  const Lanes<uint64_t> mine = ptx::ld_relaxed_gpu_u64(row(p, 2 * cta), at);
  ptx::st_global_u64(row(p, 2 * (2 * ctas + cta)), at, mine);
}

/// fence.proxy.async in all three forms: ordinary stores of one CTA, read by another's bulk copy.
MK_TWIN(twin_proxy_fences, 32) {
  const uint32_t full = ptx::dynamic_shared_base(), area = full + 1024, cta = ptx::ctaid_x(), ctas = ptx::nctaid_x();
  set_up([&] { ptx::mbarrier_init(full, 1); });
  ptx::st_global_u32(row(p, cta), lane_index() * 4u, word_in(p, 32 * cta));
  ptx::syncwarp();
  raise(counter(p, 0), 0);
  reach(counter(p, 0), ctas, 0);
  one_lane([&] {
    if (p.a == 0)
      ptx::fence_proxy_async();
    else
      ptx::fence_proxy_async_global();
    ptx::mbarrier_arrive_expect_tx(full, 128);
    ptx::cp_async_bulk_g2s(area, row(p, (cta + 1) % ctas), 128, full);
  });
  wait(full, 0);
  ptx::st_global_u32(row(p, ctas + cta), lane_index() * 4u, ptx::ld_shared_u32(lane_index() * 4u + area) ^ 1u);
}

}  // namespace megakittens::twins
