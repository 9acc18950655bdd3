// mbarriers, named barriers, barriers of a cluster, registers: who waits for whom, seen by what is read after it.
#pragma once

#include "gpu/twins/twin.cuh"

namespace megakittens::twins {

/// Writes down which of the two parities the object answers for, as word `i` of the output.
MK_DEVICE void note_phase(const Parameters& p, uint32_t barrier, uint32_t i) {
  const uint32_t even = ptx::mbarrier_test_wait_parity(barrier, 0), odd = ptx::mbarrier_test_wait_parity(barrier, 1);
  word_out(p, 32 * i, Lanes<uint32_t>(even + 2 * odd));
}

/// An object of p.a arrivals through p.b phases: after each arrival, what it answers. Then another count in its place.
MK_TWIN(twin_mbarrier_counts, 32) {
  const uint32_t barrier = ptx::dynamic_shared_base();
  uint32_t i = 0;
  set_up([&] { ptx::mbarrier_init(barrier, p.a); });
  note_phase(p, barrier, i++);
  for (uint32_t phase = 0; phase < p.b; phase++)
    for (uint32_t arrived = 0; arrived < p.a; arrived++) {
      one_lane([&] { ptx::mbarrier_arrive(barrier); });
      note_phase(p, barrier, i++);
    }
  one_lane([&] { ptx::mbarrier_arrive(barrier, p.a); });  // all of a phase at once
  note_phase(p, barrier, i++);
  ptx::syncwarp();
  one_lane([&] {
    ptx::mbarrier_inval(barrier);
    ptx::mbarrier_init(barrier, 2);
    ptx::fence_mbarrier_init_release_cluster();
  });
  note_phase(p, barrier, i++);
  one_lane([&] { ptx::mbarrier_arrive(barrier); });
  note_phase(p, barrier, i++);
  one_lane([&] { ptx::mbarrier_arrive(barrier); });
  note_phase(p, barrier, i++);
}

/// Bytes: p.a of them are expected before a copy of as many, with the arrival or apart from it; the phase ends with
/// both.
MK_TWIN(twin_mbarrier_bytes, 32) {
  const uint32_t barrier = ptx::dynamic_shared_base(), area = barrier + 1024;
  set_up([&] { ptx::mbarrier_init(barrier, 2); });
  one_lane([&] { ptx::mbarrier_arrive_expect_tx(barrier, p.a); });
  note_phase(p, barrier, 0);
  one_lane([&] { ptx::mbarrier_arrive(barrier); });
  note_phase(p, barrier, 1);  // all have arrived, no byte has
  one_lane([&] { ptx::cp_async_bulk_g2s(area, p.in, p.a, barrier); });
  wait(barrier, 0);
  note_phase(p, barrier, 2);
  one_lane([&] {
    ptx::mbarrier_expect_tx(barrier, p.a);
    ptx::cp_async_bulk_g2s(area, p.in, p.a, barrier);
    ptx::mbarrier_arrive(barrier, 2);
  });
  wait(barrier, 1);
  note_phase(p, barrier, 3);
  copy_out(p, area, p.a, 512);
}

/// Warp 0 gives a word in each of p.a rounds to the three others through a ring of two places.
MK_TWIN(twin_mbarrier_ring, 128) {
  const uint32_t base = ptx::dynamic_shared_base(), full = base, empty = base + 16, data = base + 1024;
  const uint32_t warp = warp_number();
  set_up([&] {
    for (uint32_t i = 0; i < 2; i++) {
      ptx::mbarrier_init(full + 8 * i, 1);
      ptx::mbarrier_init(empty + 8 * i, 3);
    }
  });
  for (uint32_t round = 0; round < p.a; round++) {
    const uint32_t place = round % 2, parity = round / 2 % 2;
    const Lanes<uint32_t> at = lane_index() * 4u + (data + 128 * place);
    if (warp == 0) {
      wait(empty + 8 * place, parity ^ 1);
      ptx::st_shared_u32(at, word_in(p, round) ^ round);
      one_lane([&] { ptx::mbarrier_arrive(full + 8 * place); });
    } else {
      wait(full + 8 * place, parity);
      word_out(p, (round * 3 + warp - 1) * 32, ptx::ld_shared_u32(at) + warp);
      one_lane([&] { ptx::mbarrier_arrive(empty + 8 * place); });
    }
  }
}

/// Named barriers: warps 0 and 1 arrive, 2 and 3 wait for what those wrote; then all of the CTA, the other way round.
MK_TWIN(twin_named_barrier, 128) {
  const uint32_t base = ptx::dynamic_shared_base(), warp = warp_number();
  const Lanes<uint32_t> at = lane_index() * 4u;
  for (uint32_t round = 0; round < p.a; round++) {
    if (warp < 2) {
      ptx::st_shared_u32(at + (base + 128 * warp), word_in(p, 32 * warp) + round);
      ptx::bar_arrive(1 + round % 15, 128);
    } else {
      ptx::bar_sync(1 + round % 15, 128);
      const Lanes<uint32_t> got = ptx::ld_shared_u32(at + (base + 128 * (warp - 2)));
      ptx::st_shared_u32(at + (base + 128 * warp), got ^ 0xffffu);
    }
    ptx::bar_sync_all();
    word_out(p, (round * 4 + warp) * 32, ptx::ld_shared_u32(at + (base + 128 * (3 - warp))));
    ptx::bar_sync_all();
  }
}

/// Rank 1 arrives on rank 0's object p.a times, then the other way round; words pass through global memory.
MK_TWIN(twin_mbarrier_cluster, 32) {
  const uint32_t barrier = ptx::dynamic_shared_base(), rank = ptx::cluster_ctarank();
  char* words = p.out + 128 * 32;
  set_up([&] { ptx::mbarrier_init(barrier, 3); });
  cluster_sync();
  for (uint32_t round = 0; round < p.a; round++) {
    if (rank == (round + 1) % 2) {
      ptx::st_global_u32(words, lane_index() * 4u, word_in(p, 0) * (round + 1));
      one_lane([&] {
        const uint32_t remote = ptx::mapa(barrier, 1 - rank);
        ptx::mbarrier_arrive_release_cluster(remote);
        ptx::mbarrier_arrive_release_cluster(remote, 2);
      });
    } else {
      const Patience patience;
      while (!ptx::mbarrier_try_wait_parity_acquire_cluster(barrier, round / 2 % 2)) patience.spend();
      word_out(p, 32 * round, ptx::ld_global_u32(words, lane_index() * 4u));
    }
  }
  cluster_sync();
}

/// Three warpgroups: the first gives registers to the others, all of them then add up to what they read.
MK_TWIN(twin_registers, 384) {
  ptx::griddepcontrol_wait();
  if (warp_number() < 4)
    ptx::setmaxnreg_dec<40>();
  else
    ptx::setmaxnreg_inc<232>();
  ptx::bar_sync_all();
  ptx::st_global_u32(p.out, ptx::tid_x() * 4u, ptx::ld_global_u32(p.in, ptx::tid_x() * 4u) + 1u);
  ptx::griddepcontrol_launch_dependents();
}

}  // namespace megakittens::twins
