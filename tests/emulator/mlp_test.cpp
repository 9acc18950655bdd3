#include "mlp_kernel.hpp"

namespace megakittens::emulator {
namespace {

TEST(Mlp, of_three_layers_is_right_and_silent) {
  Mlp mlp(256, 3, 3);
  LaunchConfig config = mlp.config();
  for (config.seed = 1; config.seed <= 4; config.seed++) {
    mlp.reset();
    const Report report = run(config, mlp);
    ASSERT_TRUE(report.ok()) << report.text();
    ASSERT_LT(mlp.worst(16), 0.01f);
  }
}

TEST(Mlp, without_arithmetic_runs_the_same_hand_offs) {
  Mlp mlp(256, 3, 3);
  LaunchConfig config = mlp.config();
  config.arithmetic = false;
  for (config.seed = 1; config.seed <= kSeeds; config.seed++) {
    mlp.reset();
    const Report report = run(config, mlp);
    ASSERT_TRUE(report.ok()) << report.text();
  }
}

class MlpFaults : public testing::TestWithParam<std::pair<FaultPoint, Rule>> {};

TEST_P(MlpFaults, are_found) {
  Mlp mlp(256, 2, 3);
  LaunchConfig config = mlp.config();
  config.arithmetic = false;
  PlantedFault fault{GetParam().first};
  config.faults = {fault};
  bool found = false;
  for (config.seed = 1; config.seed <= 4; config.seed++) {
    mlp.reset();
    const Report report = run(config, mlp);
    EXPECT_FALSE(report.ok());
    found |= report.has(GetParam().second);
  }
  EXPECT_TRUE(found);
}
INSTANTIATE_TEST_SUITE_P(All, MlpFaults,
                         testing::Values(std::pair{FaultPoint::kFenceProxyAsyncShared, Rule::kProxyFenceShared},
                                         std::pair{FaultPoint::kFenceProxyAsyncGlobal, Rule::kProxyFenceGlobalAsync},
                                         std::pair{FaultPoint::kBulkWaitGroup, Rule::kStoreNotComplete},
                                         std::pair{FaultPoint::kRelease, Rule::kNotReleased},
                                         std::pair{FaultPoint::kAcquire, Rule::kNotReleased},
                                         std::pair{FaultPoint::kWgmmaFence, Rule::kAccumulatorInFlight}),
                         [](const auto& info) {
                           std::string name = name_of(info.param.first);
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace megakittens::emulator
