// The machine itself: barriers, misuse, memory faults, deadlocks, time.
#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::Lanes;
using device::one_lane;
using testing::AllOf;
using testing::HasSubstr;

LaunchConfig small(std::uint32_t warps) {
  LaunchConfig config;
  config.warps = warps;
  config.shared_bytes = 4096;
  return config;
}
std::uint32_t at(std::uint32_t offset) {
  return ptx::dynamic_shared_base() + offset;
}

TEST(Deadlock, names_role_instruction_barrier_and_what_is_missing) {
  const Report report = run(small(2), [] {
    set_up([] {
      ptx::mbarrier_init(at(0), 2);
      device::name_shared(at(0), "page_finished[0]");
    });
    if (device::host::warp_index() == 0) {
      device::annotate("loader", 41);
      wait(at(0), 0);
    } else {
      device::annotate("consumer", 40);
      one_lane([] { ptx::mbarrier_arrive(at(0)); });
    }
  });
  EXPECT_THAT(
      report.deadlock,
      AllOf(HasSubstr("CTA 0 warp 0 (loader, instruction 41) waits for parity 0 of mbarrier 'page_finished[0]'"),
            HasSubstr("1 of 2 arrivals missing"),
            HasSubstr("last touched by CTA 0 warp 1 (consumer, instruction 40)")));
}

TEST(Deadlock, names_the_counter_its_value_and_its_target) {
  std::vector<std::uint32_t> counters(64);
  LaunchConfig config = small(1);
  config.grid = 2;
  config.buffers = {buffer("counters", counters)};
  const Report report = run(config, [&] {
    device::annotate("follower", 7);
    if (ptx::ctaid_x() == 1) {
      one_lane([&] { ptx::red_release_gpu_add_u32(&counters[12], 1); });
      return;
    }
    device::note_wait("counter 12", 2);
    while (ptx::ld_acquire_gpu_u32(&counters[12]) < 2) {
    }
  });
  EXPECT_THAT(
      report.deadlock,
      AllOf(HasSubstr("CTA 0 warp 0 (follower, instruction 7) polls global memory 'counters' + 0x30, which holds 1"),
            HasSubstr("for counter 12 to reach 2"), HasSubstr("last touched by CTA 1 warp 0")));
}

TEST(Deadlock, names_a_named_barrier_and_who_came) {
  const Report report = run(small(3), [] {
    if (device::host::warp_index() != 2) ptx::bar_sync(3, 96);
  });
  EXPECT_THAT(report.deadlock, HasSubstr("waits at named barrier 3 (64 of 96 threads arrived"));
}

TEST(Time, lets_bounded_waits_expire_where_nothing_can_move) {
  std::vector<std::uint32_t> out(4);
  LaunchConfig config = small(1);
  config.buffers = {buffer("out", out)};
  config.expire_waits = true;
  const Report report = run(config, [&] {
    set_up([] { ptx::mbarrier_init(at(0), 1); });
    const std::uint64_t start = ptx::globaltimer();
    bool expired = false;
    while (!expired && !ptx::mbarrier_try_wait_parity(at(0), 0)) expired = ptx::globaltimer() - start > 2'000'000'000;
    one_lane([&] { ptx::st_global_u32(out.data(), expired); });
  });
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_EQ(out[0], 1u);
  EXPECT_GE(report.expired_waits, 1u);
}

TEST(Time, does_not_expire_waits_that_others_will_satisfy) {
  std::vector<std::uint32_t> flag(4);
  LaunchConfig config = small(2);
  config.buffers = {buffer("flag", flag)};
  config.expire_waits = true;
  auto kernel = [&] {
    const std::uint64_t start = ptx::globaltimer();
    if (device::host::warp_index() == 1) {
      for (int i = 0; i < 1000; i++) ptx::nanosleep(100);
      one_lane([&] { ptx::st_release_gpu_u32(flag.data(), 1); });
      return;
    }
    while (ptx::ld_acquire_gpu_u32(flag.data()) == 0) {
      if (ptx::globaltimer() - start > 2'000'000'000) ptx::trap();
    }
  };
  expect_good(config, kernel, [&] { flag.assign(4, 0); }, [] {});
}

TEST(Polling, of_several_words_ends_when_any_of_them_changes) {
  std::vector<std::uint32_t> words(256);
  LaunchConfig config = small(2);
  config.buffers = {buffer("words", words)};
  auto kernel = [&] {
    if (device::host::warp_index() == 1) {
      one_lane([&] { ptx::red_release_gpu_add_u32(&words[200], 1); });
      return;
    }
    while (ptx::ld_acquire_gpu_u32(&words[0]) == 0 && ptx::ld_relaxed_gpu_u32(&words[200]) == 0) {
    }
  };
  expect_good(config, kernel, [&] { words.assign(256, 0); }, [] {});
}

// A loop of two waits, of which one is content on every turn, makes no progress.
TEST(Polling, of_a_counter_beside_an_mbarrier_ends_with_the_counter) {
  for (const bool suspends : {false, true}) {
    std::vector<std::uint32_t> counter(32);
    LaunchConfig config = small(2);
    config.buffers = {buffer("counter", counter)};
    config.step_limit = 100'000;
    auto kernel = [&](bool arrives) {
      set_up([] { ptx::mbarrier_init(at(0), 1); });
      if (device::host::warp_index() == 1) {
        one_lane([] { ptx::mbarrier_arrive(at(0)); });
        for (int i = 0; i < 100; i++) ptx::nanosleep(1);
        if (arrives) one_lane([&] { ptx::red_release_gpu_add_u32(counter.data(), 1); });
        return;
      }
      bool full = false, there = false;
      while (!full || !there) {
        full = suspends ? ptx::mbarrier_try_wait_parity(at(0), 0) : ptx::mbarrier_test_wait_parity(at(0), 0);
        there = ptx::ld_acquire_gpu_u32(counter.data()) != 0;
      }
    };
    expect_good(config, [&] { kernel(true); }, [&] { counter.assign(32, 0); }, [] {});
    counter.assign(32, 0);
    const Report report = run(config, [&] { kernel(false); });
    EXPECT_THAT(report.deadlock, HasSubstr("CTA 0 warp 0 polls global memory 'counter' + 0x0, which holds 0"));
    EXPECT_FALSE(report.step_limit_reached);
  }
}

TEST(StepLimit, ends_a_run_that_goes_on_for_ever) {
  LaunchConfig config = small(1);
  config.step_limit = 1000;
  const Report report = run(config, [] {
    for (;;) ptx::nanosleep(1);
  });
  EXPECT_TRUE(report.step_limit_reached);
  EXPECT_FALSE(report.ok());
}

TEST(StepLimit, ends_a_warp_that_goes_on_alone) {
  LaunchConfig config = small(1);
  config.step_limit = 1000;
  const Report report = run(config, [] {
    set_up([] { ptx::mbarrier_init(at(0), 1); });
    for (;;) one_lane([] { ptx::mbarrier_arrive(at(0)); });
  });
  EXPECT_TRUE(report.step_limit_reached);
}

// Whoever polls can end a run from outside, and changes nothing where he does not.
TEST(Poll, ends_a_run_whatever_its_warps_do) {
  struct Enough : std::exception {};
  int polls = 0;
  LaunchConfig config = small(2);
  config.poll = [&] {
    if (++polls == 3) throw Enough{};
  };
  auto sleeping = [] {
    for (;;) ptx::nanosleep(1);
  };
  auto working = [] {
    set_up([] { ptx::mbarrier_init(at(0), 1); });
    for (;;) one_lane([] { ptx::mbarrier_arrive(at(0)); });
  };
  EXPECT_THROW(run(config, sleeping), Enough);
  polls = 0;
  EXPECT_THROW(run(config, working), Enough);
  polls = 0;
  config.warps = 1;  // goes on alone
  EXPECT_THROW(run(config, working), Enough);
}

TEST(Poll, changes_nothing_where_it_throws_nothing) {
  auto record_of = [](bool polled, int& polls) {
    std::vector<std::uint32_t> words(32);
    LaunchConfig config = small(4);
    config.interleaving.record = true;
    config.buffers = {buffer("words", words)};
    if (polled) config.poll = [&polls] { ++polls; };
    const Report report = run(config, [&] {
      MK_ROLLED for (int i = 0; i < 2000; ++i) one_lane([&] { ptx::red_relaxed_gpu_add_u32(words.data(), 1); });
    });
    EXPECT_TRUE(report.ok()) << report.text();
    return report.interleaving;
  };
  int polls = 0;
  const Interleaving plain = record_of(false, polls);
  EXPECT_EQ(polls, 0);
  EXPECT_TRUE(record_of(true, polls) == plain);
  EXPECT_GE(polls, 7);
}

TEST(Exceptions, of_a_kernel_end_the_run_and_name_the_warp) {
  const Report report = run(small(3), [] {
    if (device::host::warp_index() == 1) ptx::trap();
    ptx::bar_sync_all();
  });
  EXPECT_THAT(report.exception, AllOf(HasSubstr("CTA 0 warp 1"), HasSubstr("trap")));
}

struct Misuse {
  const char* name;
  void (*kernel)();
  Rule rule;
  const char* text;
};
class Mbarriers : public testing::TestWithParam<Misuse> {};

TEST_P(Mbarriers, refuse) {
  const Report report = run(small(1), [] { GetParam().kernel(); });
  EXPECT_TRUE(report.has(GetParam().rule)) << report.text();
  EXPECT_THAT(report.text(), HasSubstr(GetParam().text));
}
INSTANTIATE_TEST_SUITE_P(Misuses, Mbarriers,
                         testing::Values(Misuse{"an_arrival_before_init",
                                                [] { one_lane([] { ptx::mbarrier_arrive(at(0)); }); },
                                                Rule::kBarrierMisuse, "no mbarrier is initialised"},
                                         Misuse{"init_over_a_live_object",
                                                [] {
                                                  one_lane([] {
                                                    ptx::mbarrier_init(at(0), 1);
                                                    ptx::mbarrier_init(at(0), 1);
                                                  });
                                                },
                                                Rule::kBarrierMisuse, "init over a live object"},
                                         Misuse{"inval_in_mid_phase",
                                                [] {
                                                  one_lane([] {
                                                    ptx::mbarrier_init(at(0), 2);
                                                    ptx::mbarrier_arrive(at(0));
                                                    ptx::mbarrier_inval(at(0));
                                                  });
                                                },
                                                Rule::kBarrierMisuse, "inval while a phase is under way"},
                                         Misuse{"more_arrivals_than_the_count",
                                                [] {
                                                  one_lane([] {
                                                    ptx::mbarrier_init(at(0), 2);
                                                    ptx::mbarrier_arrive(at(0), 3);
                                                  });
                                                },
                                                Rule::kBarrierMisuse, "too many arrivals"},
                                         Misuse{"arrivals_of_all_lanes", [] { ptx::mbarrier_init(at(0), 1); },
                                                Rule::kBadOperand, "all lanes execute mbarrier.init"},
                                         Misuse{"stores_over_a_live_object",
                                                [] {
                                                  one_lane([] {
                                                    ptx::mbarrier_init(at(0), 1);
                                                    ptx::st_shared_u32(at(4), 1u);
                                                  });
                                                },
                                                Rule::kBarrierOverwritten, "ordinary store"},
                                         Misuse{"odd_addresses",
                                                [] {
                                                  one_lane([] {
                                                    ptx::mbarrier_init(at(0), 1);
                                                    ptx::mbarrier_arrive(at(4));
                                                  });
                                                },
                                                Rule::kBadOperand, "8-byte aligned"}),
                         [](const auto& info) { return info.param.name; });

TEST(Mbarriers, may_be_used_again_after_inval_with_another_count) {
  const Report report = run(small(1), [] {
    for (std::uint32_t count = 1; count < 4; count++) {
      one_lane([&] {
        ptx::mbarrier_init(at(0), count);
        ptx::mbarrier_arrive(at(0), count);
      });
      wait(at(0), 0);
      one_lane([] { ptx::mbarrier_inval(at(0)); });
    }
  });
  EXPECT_TRUE(report.ok()) << report.text();
}

// A warp that something else has woken does not wait for the mbarrier any more.
TEST(Mbarriers, may_end_after_a_poll_in_vain_beside_a_counter) {
  std::vector<std::uint32_t> counter(32);
  LaunchConfig config = small(2);
  config.buffers = {buffer("counter", counter)};
  auto kernel = [&] {
    set_up([] { ptx::mbarrier_init(at(0), 1); });
    if (device::host::warp_index() == 1) {
      one_lane([&] { ptx::red_release_gpu_add_u32(counter.data(), 1); });
      return;
    }
    while (!ptx::mbarrier_test_wait_parity(at(0), 0) && ptx::ld_acquire_gpu_u32(counter.data()) == 0) {
    }
    one_lane([] { ptx::mbarrier_inval(at(0)); });
  };
  expect_good(config, kernel, [&] { counter.assign(32, 0); }, [] {});
}

TEST(Mbarriers, that_nobody_was_told_of_are_found) {
  const Report report = run(small(2), [] {
    if (device::host::warp_index() == 0) {
      one_lane([] { ptx::mbarrier_init(at(0), 1); });
    } else {
      for (int i = 0; i < 20; i++) ptx::nanosleep(1);
      one_lane([] { ptx::mbarrier_arrive(at(0)); });
    }
  });
  EXPECT_TRUE(report.has(Rule::kBarrierNotPublished)) << report.text();
}

TEST(Mbarriers, that_lap_a_waiter_are_found) {
  const Report report = run(small(2), [] {
    set_up([] { ptx::mbarrier_init(at(0), 1); });
    if (device::host::warp_index() == 0) {
      for (int i = 0; i < 3; i++) one_lane([] { ptx::mbarrier_arrive(at(0)); });
      ptx::bar_sync(1, 64);
    } else {
      ptx::bar_arrive(1, 64);
      for (int i = 0; i < 100; i++) ptx::nanosleep(1);
      wait(at(0), 0);  // meant for the first phase, sees the third
    }
  });
  EXPECT_TRUE(report.has(Rule::kLappedWaiter)) << report.text();
  EXPECT_THAT(report.text(), HasSubstr("waits for phase 0 (parity 0)"));
}

TEST(NamedBarriers, order_stores_before_loads_and_arrivals_do_not_wait) {
  std::vector<std::uint32_t> out(32);
  LaunchConfig config = small(2);
  config.buffers = {buffer("out", out, Contents::kUnwritten)};
  auto kernel = [&] {
    if (device::host::warp_index() == 0) {
      ptx::st_shared_u32(at(0) + device::lane_index() * 4u, device::lane_index());
      ptx::bar_arrive(2, 64);
    } else {
      ptx::bar_sync(2, 64);
      ptx::st_global_u32(out.data(), device::lane_index() * 4u, ptx::ld_shared_u32(at(0) + device::lane_index() * 4u));
    }
  };
  expect_good(config, kernel, [&] { out.assign(32, 0); }, [&] { ASSERT_EQ(out[31], 31u); });
  expect_found(config, {FaultPoint::kNamedBarrier}, {Rule::kOrdinaryRace}, kernel, [] {});
}

TEST(NamedBarriers, refuse_counts_that_disagree) {
  const Report report = run(small(2), [] { ptx::bar_sync(1, device::host::warp_index() == 0 ? 64 : 32); });
  EXPECT_TRUE(report.has(Rule::kNamedBarrierMisuse)) << report.text();
}

TEST(Memory, outside_every_buffer_is_found_with_its_address) {
  std::vector<std::uint32_t> data(32);
  LaunchConfig config = small(1);
  config.buffers = {buffer("data", data)};
  const Report report = run(config, [&] { ptx::ld_global_u32(data.data(), device::lane_index() * 4u + 64u); });
  EXPECT_TRUE(report.has(Rule::kOutOfBounds)) << report.text();
}

TEST(Memory, masked_lanes_touch_nothing) {
  std::vector<std::uint32_t> data(16, 5), out(32);
  LaunchConfig config = small(1);
  config.buffers = {buffer("data", data), buffer("out", out)};
  auto kernel = [&] {
    const Lanes<std::uint64_t> offset = device::lane_index() * 4u;
    const Lanes<bool> mask = device::lane_index() < 16u;
    ptx::st_global_u32(out.data(), offset, ptx::ld_global_u32(data.data(), offset, mask, 9u));
  };
  expect_good(config, kernel, [] {}, [&] { ASSERT_THAT(out[15] * 10 + out[16], 59u); });
}

TEST(Memory, of_shared_space_that_nobody_wrote_is_found) {
  const Report report = run(small(1), [] { ptx::ld_shared_u32(at(128) + device::lane_index() * 4u); });
  EXPECT_TRUE(report.has(Rule::kUnwritten)) << report.text();
}

TEST(Memory, beyond_the_end_of_shared_space_is_found) {
  const Report report = run(small(1), [] { ptx::st_shared_u32(at(4096 - 64) + device::lane_index() * 4u, 1u); });
  EXPECT_TRUE(report.has(Rule::kOutOfBounds)) << report.text();
}

TEST(Memory, that_is_read_only_refuses_stores) {
  std::vector<std::uint32_t> data(32);
  LaunchConfig config = small(1);
  config.buffers = {buffer("weights", data, Contents::kReadOnly)};
  const Report report = run(config, [&] { ptx::st_global_u32(data.data(), device::lane_index() * 4u, 1u); });
  EXPECT_THAT(report.text(), HasSubstr("'weights' + 0x0, which is read-only"));
}

TEST(Memory, read_by_constant_loads_may_not_be_written_however_ordered) {
  std::vector<std::uint32_t> data(128);
  LaunchConfig config = small(1);
  config.buffers = {buffer("data", data)};
  const Report report = run(config, [&] {
    ptx::st_global_u32(data.data(), device::lane_index() * 4u, 1u);
    ptx::ld_global_nc_v4(data.data(), device::lane_index() * 16u);
  });
  EXPECT_TRUE(report.has(Rule::kConstantWritten)) << report.text();
}

TEST(Memory, neighbouring_elements_of_one_line_do_not_conflict) {
  std::vector<std::uint16_t> data(64);
  LaunchConfig config = small(2);
  config.buffers = {buffer("data", data, Contents::kUnwritten)};
  auto kernel = [&] {
    const std::uint32_t warp = device::host::warp_index();
    ptx::st_global_u16(data.data(), (device::lane_index() * 2u + warp) * 2u, std::uint16_t{3});
  };
  expect_good(config, kernel, [] {}, [] {});
}

TEST(Exits, with_a_store_that_still_reads_shared_space_are_found) {
  std::vector<std::uint32_t> data(32);
  LaunchConfig config = small(1);
  config.buffers = {buffer("data", data)};
  bool seen = false;
  for (config.seed = 1; config.seed <= kSeeds; config.seed++) {
    seen |= run(config, [&] {
              ptx::st_shared_u32(at(0) + device::lane_index() * 4u, 1u);
              ptx::fence_proxy_async_shared_cta();
              one_lane([&] {
                ptx::cp_async_bulk_s2g(data.data(), at(0), 128);
                ptx::cp_async_bulk_commit_group();
              });
            }).has(Rule::kUnfinished);
  }
  EXPECT_TRUE(seen);
}

TEST(Registers, move_between_warpgroups_and_are_waited_for) {
  LaunchConfig config = small(12);
  auto kernel = [] {
    if (device::host::warp_index() < 8) {
      ptx::setmaxnreg_inc<224>();
    } else {
      ptx::setmaxnreg_dec<56>();
    }
  };
  expect_good(config, kernel, [] {}, [] {});
}

TEST(Registers, that_nobody_gives_back_are_told) {
  const Report report = run(small(12), [] { ptx::setmaxnreg_inc<224>(); });
  EXPECT_THAT(report.deadlock, HasSubstr("waits for registers: it has 168 and asks for 224"));
}

TEST(Launches, that_the_machine_cannot_hold_are_refused) {
  LaunchConfig config;
  config.warps = 17;
  EXPECT_THROW(run(config, [] {}), OptionError);
  config.warps = 1;
  config.cluster = 2;
  EXPECT_THROW(run(config, [] {}), OptionError);
  config.cluster = 1;
  config.shared_bytes = 228 * 1024;
  EXPECT_THROW(run(config, [] {}), OptionError);
}

}  // namespace
}  // namespace megakittens::emulator
