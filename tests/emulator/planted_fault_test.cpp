// Faults planted in the interpreter's own instruction types are found under the rule they break; the same programs
// unspoilt are silent under the same seeds.
#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ops/icodes.hpp"
#include "support/run_graph.hpp"

namespace megakittens::test {
namespace {

using emulator::FaultPoint;
using emulator::PlantedFault;
using emulator::Rule;
using ir::DType;
using ir::Handle;

/// relu(x) @ w @ w: bulk stores read by bulk loads, then ordinary stores read by bulk loads.
ir::Graph products() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {128, 256}), w = b.input("w", DType::bf16, {256, 256});
  Handle h = b.matmul(b.relu(x), w);
  b.output(b.matmul(h, w));
  return b.build();
}
/// Products of a depth that needs every stage again, in a row, on one SM.
ir::Graph deep_products() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {128, 512}), w = b.input("w", DType::bf16, {512, 256});
  for (int i = 0; i < 3; ++i) b.output(b.matmul(x, w));
  return b.build();
}
/// Tiled nodes on one SM after each other.
ir::Graph tiles() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {128, 512});
  for (int i = 0; i < 3; ++i) x = b.pointwise(ir::PointwiseOp::add, x, 1.0);
  b.output(x);
  return b.build();
}
/// Nodes of the general type only.
ir::Graph general() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {33, 45});
  for (int i = 0; i < 4; ++i) x = b.relu(x);
  b.output(b.matmul(x, b.input("w", DType::bf16, {45, 33})));
  return b.build();
}
/// A product reads what a tiled node overwrites, and nothing else orders the two.
ir::Graph reuse() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {128, 256}), w = b.input("w", DType::bf16, {256, 256});
  b.output(b.matmul(x, w));
  b.output(b.assign(x, b.input("y", DType::bf16, {128, 256})));
  return b.build();
}

struct Case {
  const char* name;
  ir::Graph (*graph)();
  std::uint32_t sms;
  PlantedFault fault;
  std::vector<Rule> rules;  ///< one of these
};

PlantedFault fault(FaultPoint point, const char* role) {
  return {.point = point, .cta = -1, .warp = -1, .role = role, .nth = -1};
}

const Case kCases[] = {
    {"proxy_fence_missing_before_loading_ordinary_stores",
     products,
     4,
     fault(FaultPoint::kFenceProxyAsyncGlobal, "follower"),
     {Rule::kProxyFenceGlobal}},
    {"proxy_fence_missing_before_loading_bulk_stores",
     tiles,
     3,
     fault(FaultPoint::kFenceProxyAsyncGlobal, "follower"),
     {Rule::kProxyFenceGlobalAsync}},
    {"proxy_fence_missing_before_the_bulk_store",
     tiles,
     4,
     fault(FaultPoint::kFenceProxyAsyncShared, "consumer"),
     {Rule::kProxyFenceShared}},
    {"proxy_fence_missing_before_the_tensor_core",
     general,
     4,
     fault(FaultPoint::kFenceProxyAsyncShared, "consumer"),
     {Rule::kProxyFenceShared}},
    {"early_release_of_a_stage_under_products",
     deep_products,
     1,
     fault(FaultPoint::kWgmmaWaitGroup, "consumer"),
     {Rule::kReleasedUnderWgmma}},
    {"accumulators_without_fence",
     deep_products,
     1,
     fault(FaultPoint::kWgmmaFence, "consumer"),
     {Rule::kAccumulatorInFlight}},
    {"store_completion_confused", tiles, 3, fault(FaultPoint::kBulkWaitGroup, "storer"), {Rule::kStoreNotComplete}},
    {"early_release_of_a_page_under_its_store",
     tiles,
     1,
     fault(FaultPoint::kBulkWaitGroupRead, "storer"),
     {Rule::kReleasedUnderStore}},
    {"arrivals_without_release", products, 4, fault(FaultPoint::kRelease, "storer"), {Rule::kNotReleased}},
    {"waits_without_acquire", general, 4, fault(FaultPoint::kAcquire, "follower"), {Rule::kNotReleased}},
    {"waits_of_bulk_loads_without_acquire", products, 4, fault(FaultPoint::kAcquire, "follower"), {Rule::kNotReleased}},
    {"reuse_waits_without_acquire",
     reuse,
     4,
     fault(FaultPoint::kAcquire, "storer"),
     {Rule::kReusedUnderReader, Rule::kNotReleased}},
    {"stages_read_before_they_are_full",
     products,
     4,
     fault(FaultPoint::kMbarrierWait, "consumer"),
     {Rule::kUnwaitedLoad}},
};

class PlantedFaults : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Interpreter, PlantedFaults, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

RunSetup setup_of(const Case& planted) {
  RunSetup setup = small_machine();
  setup.passes.fusion = false;
  setup.schedule.config.sms = planted.sms;
  return setup;
}

TEST_P(PlantedFaults, are_found_within_ten_seeds_under_the_rule_they_break) {
  GraphRun run(GetParam().graph(), setup_of(GetParam()));
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

TEST_P(PlantedFaults, are_all_that_is_found) {
  GraphRun run(GetParam().graph(), setup_of(GetParam()));
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RunResult result = run.launch(1, {.seed = seed});
    EXPECT_TRUE(result.report.ok()) << "seed " << seed << ": " << result.report.text();
  }
}

TEST(PlantedFault, findings_name_roles_and_instructions) {
  GraphRun run(products(), setup_of(kCases[0]));
  const RunResult result = run.launch(1, {.seed = 1, .faults = {kCases[0].fault}});
  EXPECT_NE(result.report.text().find("(follower, instruction "), std::string::npos) << result.report.text();
  EXPECT_NE(result.report.text().find("(consumer, instruction "), std::string::npos) << result.report.text();
}

}  // namespace
}  // namespace megakittens::test
