// Every fault of the one list is noticed by the rule that the list names; the same programs unspoilt are silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedule/verify.hpp"
#include "support/checked_programs.hpp"
#include "support/error.hpp"
#include "support/fault_trial.hpp"
#include "support/tiled_products.hpp"

namespace megakittens::emulator {
namespace {

std::string test_name(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(text, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

class NamedFaults : public testing::TestWithParam<NamedFault> {};
INSTANTIATE_TEST_SUITE_P(All, NamedFaults, testing::ValuesIn(named_faults().begin(), named_faults().end()),
                         [](const auto& info) { return test_name(info.param.name); });

TEST_P(NamedFaults, is_noticed_by_its_rule) {
  const test::FaultTrial trial = test::try_fault(GetParam(), 200);
  EXPECT_TRUE(trial.planted);
  EXPECT_TRUE(trial.verifier_noticed) << "the verifier found: " << trial.verifier;
  EXPECT_TRUE(trial.checker_noticed) << trial.seen.substr(0, 4000);
}

class FaultPrograms : public testing::TestWithParam<test::CheckedProgram> {};
INSTANTIATE_TEST_SUITE_P(All, FaultPrograms, testing::ValuesIn(test::fault_programs()),
                         [](const auto& info) { return test_name(info.param.name); });

TEST_P(FaultPrograms, are_silent_without_a_fault) {
  const program::Program program = test::prepare(GetParam());
  EXPECT_TRUE(schedule::verify(program).empty());
  const StorageContents inputs = test::random_contents(GetParam().graph(), program, 1);
  for (const Strategy strategy : {Strategy::random, Strategy::pct}) {
    ExploreOptions options;
    options.schedules = 10;
    options.run.interleaving = {.strategy = strategy, .expected_steps = 0};
    const Exploration exploration = explore(program, inputs, options);
    EXPECT_TRUE(exploration.ok()) << exploration.found.front().text;
    EXPECT_EQ(exploration.schedules, 10u);
  }
}

TEST(FaultProgram, products_are_cut_into_the_tiles_whose_hand_offs_they_stand_for) {
  auto tiles = [](const char* name) { return test::tiles_of(test::prepare(test::checked_program(name))); };
  using Tiles = std::set<std::string>;
  EXPECT_EQ(tiles("deep products"), Tiles{"gemm"});
  EXPECT_EQ(tiles("product, then tiles"), Tiles{"gemm"});
  EXPECT_EQ(tiles("128 x 128, then tiles"), Tiles{"gemm_medium"});
  EXPECT_EQ(tiles("sums, then tiles"), Tiles{"gemm_narrow"});
  EXPECT_EQ(tiles("two tiles"), (Tiles{"gemm", "gemm_divided"}));
}

TEST(NamedFault, names_are_different_and_each_program_exists) {
  std::set<std::string_view> names;
  for (const NamedFault& fault : named_faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_NO_THROW(test::checked_program(fault.shown_by)) << fault.name;
    EXPECT_FALSE(fault.verifier.empty() && fault.checker.empty()) << fault.name << " need not be noticed";
  }
}

TEST(NamedFault, every_point_of_the_twins_is_in_a_test) {
  // Those that the interpreter's programs do not reach are planted in kernels written by hand.
  const std::set<FaultPoint> elsewhere = {
      FaultPoint::kFenceProxyAsync, FaultPoint::kFenceAcqRel,       FaultPoint::kRemoteArrive, FaultPoint::kRemoteWait,
      FaultPoint::kBulkWaitGroup,   FaultPoint::kBulkWaitGroupRead, FaultPoint::kBulkCommit};
  for (int p = 0; p < kFaultPoints; ++p) {
    const auto point = static_cast<FaultPoint>(p);
    const bool named = std::ranges::any_of(
        named_faults(), [&](const NamedFault& fault) { return fault.in_twins && fault.twin == point; });
    EXPECT_NE(named, elsewhere.contains(point)) << name_of(point);
  }
}

TEST(ParseFault, takes_names_and_points_with_filters) {
  EXPECT_EQ(parse_fault("wait-forgotten").program, std::vector{ProgramFault::wait_dropped});
  EXPECT_EQ(parse_fault("counter-compared-with-==").twins.size(), 1u);
  EXPECT_EQ(parse_fault("counter-compared-with-==").program.size(), 1u);
  const PlantedFault fault = parse_fault("mbarrier.try_wait:role=storer,object=page_free,cta=1,warp=11,nth=3").twins[0];
  EXPECT_EQ(fault.point, FaultPoint::kMbarrierWait);
  EXPECT_EQ(fault.role, "storer");
  EXPECT_EQ(fault.object, "page_free");
  EXPECT_EQ(fault.cta, 1);
  EXPECT_EQ(fault.warp, 11);
  EXPECT_EQ(fault.nth, 3);
  EXPECT_EQ(parse_fault("tcgen05.fence::after_thread_sync").twins[0].point, FaultPoint::kTcgenFenceAfter);
  EXPECT_EQ(parse_fault("fence.proxy.async.shared::cta:role=consumer").twins[0].role, "consumer");
  EXPECT_EQ(parse_fault("cp.async.bulk.wait_group.read").twins[0].point, FaultPoint::kBulkWaitGroupRead);
}

TEST(ParseFault, refuses_what_it_does_not_know) {
  EXPECT_THROW(parse_fault("no-such-fault"), OptionError);
  EXPECT_THROW(parse_fault("mbarrier.try_wait:lane=3"), OptionError);
  EXPECT_THROW(parse_fault("mbarrier.try_wait:nth=x"), OptionError);
  EXPECT_THROW(parse_fault(""), OptionError);
}

}  // namespace
}  // namespace megakittens::emulator
