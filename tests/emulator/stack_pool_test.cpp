// Stacks for fibres: what lies below one traps, and thousands of them fit into a process.
#include "emulator/stack_pool.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cstring>

#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t kBytes = 256 * 1024;
constexpr std::size_t kStacks = 1584;  // 132 CTAs of 12 warps

class StackPools : public testing::TestWithParam<Guards> {
 protected:
  void SetUp() override {
    if (GetParam() == Guards::light && guards_of_this_host() != Guards::light)
      GTEST_SKIP() << "this kernel has no light guards (Linux 6.13 has)";
  }
};

TEST_P(StackPools, the_byte_below_a_stack_traps_and_the_others_are_its_own) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  StackPool pool(GetParam());
  const Stack first = pool.take(kBytes - 1);
  const Stack second = pool.take(kBytes);
  EXPECT_EQ(first.bytes, kBytes);
  for (const Stack& stack : {first, second}) {
    std::memset(stack.bottom, 1, stack.bytes);
    EXPECT_DEATH(*const_cast<volatile std::byte*>(stack.bottom - 1) = std::byte{1}, "");
  }
  pool.give(first);
  pool.give(second);
}

TEST_P(StackPools, a_stack_that_was_given_back_is_taken_again) {
  StackPool pool(GetParam());
  const Stack stack = pool.take(kBytes);
  pool.give(stack);
  EXPECT_EQ(pool.take(kBytes).bottom, stack.bottom);
  pool.give(stack);
  const Stack other = pool.take(2 * kBytes);
  EXPECT_EQ(other.bytes, 2 * kBytes);
  pool.give(other);
}

TEST_P(StackPools, the_stacks_of_a_thread_take_no_more_maps_than_threads_that_fit_assumes) {
  const std::size_t before = maps_in_use();
  ASSERT_GT(before, 0u);
  StackPool pool(GetParam());
  std::vector<Stack> stacks;
  for (std::size_t i = 0; i < kStacks; ++i) {
    stacks.push_back(pool.take(kBytes));
    stacks.back().bottom[kBytes - 1] = std::byte{1};
  }
  EXPECT_LE(maps_in_use() - before, GetParam() == Guards::light ? 50 : 2 * kStacks + 50);
  for (const Stack& stack : stacks) pool.give(stack);
}

INSTANTIATE_TEST_SUITE_P(Both, StackPools, testing::Values(Guards::light, Guards::mapped),
                         [](const auto& info) { return info.param == Guards::light ? "light" : "mapped"; });

TEST(StackPoolLimits, threads_are_as_many_as_the_limit_of_memory_maps_allows) {
  EXPECT_EQ(threads_that_fit(kStacks, Guards::mapped, 300, 65530), 19u);
  EXPECT_EQ(threads_that_fit(kStacks, Guards::mapped, 40000, 65530), 7u);
  EXPECT_EQ(threads_that_fit(kStacks, Guards::mapped, 70000, 65530), 1u);
  EXPECT_EQ(threads_that_fit(48, Guards::mapped, 300, 65530), 327u);
  for (const unsigned threads :
       {threads_that_fit(kStacks, Guards::light, 300, 65530), threads_that_fit(kStacks, Guards::mapped, 300, 0)})
    EXPECT_GE(threads, 256u);
}

TEST(StackPoolLimits, more_than_the_host_gives_is_refused_with_the_limit_and_the_way_out) {
  EXPECT_GT(max_maps(), 0u);
  StackPool pool;
  EXPECT_THAT(
      [&] { pool.take(std::size_t{1} << 50); },
      ThrowsMessage<CapacityError>(
          AllOf(HasSubstr("no memory for a fibre stack of 1125899906842624 bytes: Cannot allocate memory"),
                HasSubstr(fmt::format("of the {} that vm.max_map_count allows", max_maps())), HasSubstr("--threads"))));
}

#if !defined(__SANITIZE_ADDRESS__)  // whose own maps run out as well, which ends the process
TEST(StackPoolLimits, past_the_limit_of_maps_an_error_is_thrown_and_no_stack_lacks_its_guard) {
  if (max_maps() > 200'000) GTEST_SKIP() << "vm.max_map_count is too high here to be reached";
  StackPool pool(Guards::mapped);
  std::vector<Stack> stacks;
  stacks.reserve(max_maps());  // to grow takes a map, too
  EXPECT_THROW(
      {
        while (stacks.size() < max_maps()) stacks.push_back(pool.take(4096));
      },
      CapacityError);
  for (const Stack& stack : stacks) pool.give(stack);
}

TEST(StackPoolLimits, the_error_needs_no_memory_for_the_list_of_maps) {
  StackPool pool(Guards::mapped);
  std::vector<Stack> stacks;
  stacks.reserve(16'000);  // of which the list, two lines a stack, is some megabytes long
  while (stacks.size() < std::min<std::size_t>(max_maps() / 4, 16'000)) stacks.push_back(pool.take(4096));
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  EXPECT_THROW(pool.take(4096), CapacityError);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &usual), 0);
  for (const Stack& stack : stacks) pool.give(stack);
}
#endif

}  // namespace
}  // namespace megakittens::emulator
