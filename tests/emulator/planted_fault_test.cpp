// Known faults of such systems, by the names they are known under, planted in the interpreter's own instruction types:
// found within ten seeds under the rule they break, with the launches on one workspace.
#include <gtest/gtest.h>

#include "support/checked_programs.hpp"
#include "support/run_graph.hpp"

namespace megakittens::test {
namespace {

using emulator::FaultPoint;
using emulator::PlantedFault;
using emulator::Rule;

struct Case {
  std::string name;
  std::string_view program;  ///< of checked_programs.hpp, whose silence is tested in named_fault_test.cpp
  PlantedFault fault;
  std::vector<Rule> rules;  ///< one of these
};

PlantedFault fault(FaultPoint point, const char* role) {
  return {.point = point, .cta = -1, .warp = -1, .role = role, .nth = -1};
}

const Case kCases[] = {
    {"proxy_fence_missing_before_loading_ordinary_stores",
     "products",
     fault(FaultPoint::kFenceProxyAsyncGlobal, "follower"),
     {Rule::kProxyFenceGlobal}},
    {"proxy_fence_missing_behind_gathered_operands",
     "gathers",
     fault(FaultPoint::kFenceProxyAsyncShared, "consumer"),
     {Rule::kWriterFence}},
    {"proxy_fence_missing_before_the_tensor_core",
     "general",
     fault(FaultPoint::kFenceProxyAsyncShared, "consumer"),
     {Rule::kProxyFenceShared}},
    {"early_release_of_a_stage_under_products",
     "deep products",
     fault(FaultPoint::kWgmmaWaitGroup, "consumer"),
     {Rule::kReleasedUnderWgmma}},
    {"accumulators_without_fence",
     "deep products",
     fault(FaultPoint::kWgmmaFence, "consumer"),
     {Rule::kAccumulatorInFlight}},
    {"arrivals_without_release", "products", fault(FaultPoint::kRelease, "storer"), {Rule::kNotReleased}},
    {"waits_without_acquire", "general", fault(FaultPoint::kAcquire, "follower"), {Rule::kNotReleased}},
    {"waits_of_bulk_loads_without_acquire", "products", fault(FaultPoint::kAcquire, "follower"), {Rule::kNotReleased}},
    {"reuse_waits_without_acquire",
     "reuse",
     fault(FaultPoint::kAcquire, "storer"),
     {Rule::kReusedUnderReader, Rule::kNotReleased}},
    {"stages_read_before_they_are_full",
     "products",
     fault(FaultPoint::kMbarrierWait, "consumer"),
     {Rule::kUnwaitedLoad}},
};

class PlantedFaults : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Interpreter, PlantedFaults, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

GraphRun run_of(const Case& planted) {
  const CheckedProgram& program = checked_program(planted.program);
  RunSetup setup;
  setup.passes = program.options.passes;
  setup.schedule.config.sms = program.options.sms;
  setup.schedule.config.cluster = program.options.cluster;
  return GraphRun(program.graph(), setup);
}

TEST_P(PlantedFaults, are_found_within_ten_seeds_under_the_rule_they_break) {
  GraphRun run = run_of(GetParam());
  std::string texts;
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 10 && !found; ++seed) {
    run.workspace().reset();
    const RunResult result = run.launch(1, {.seed = seed, .faults = {GetParam().fault}});
    for (Rule rule : GetParam().rules) found = found || result.report.has(rule);
    texts += result.report.text().substr(0, 1500) + "\n";
  }
  EXPECT_TRUE(found) << texts;
}

TEST(PlantedFault, findings_name_roles_and_instructions) {
  GraphRun run = run_of(kCases[0]);
  const RunResult result = run.launch(1, {.seed = 1, .faults = {kCases[0].fault}});
  EXPECT_NE(result.report.text().find("(follower, instruction "), std::string::npos) << result.report.text();
  EXPECT_NE(result.report.text().find("(consumer, instruction "), std::string::npos) << result.report.text();
}

}  // namespace
}  // namespace megakittens::test
