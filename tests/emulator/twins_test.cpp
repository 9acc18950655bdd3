// The host's half of the twin tests: every kernel runs here, silently for the checker and with the same bytes under
// every schedule, so that a difference on a GPU is a difference of the machines.
#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "gpu/twins/wgmma.cuh"
#include "support/nvrtc.hpp"
#include "support/twins/cases.hpp"

namespace megakittens::test {
namespace {

class Twins : public testing::TestWithParam<TwinGroup> {};

TEST_P(Twins, are_silent_and_the_same_under_every_schedule) {
  const std::vector<TwinCase> cases = GetParam().cases();
  EXPECT_FALSE(cases.empty());
  for (const TwinCase& twin : cases) {
    const TwinRun first = run_on_emulator(twin, 1);
    ASSERT_EQ(first.report.ok(), !twin.fails) << twin.name << "\n" << first.report.text();
    if (twin.fails) continue;
    const bool outside = twin.kernel == "twin_tensor_store" && twin.name.find("outside") != std::string::npos;
    EXPECT_EQ(first.out == twin.out, outside) << twin.name;
    if (twin.warps * twin.grid == 1 && twin.shared_bytes == 0) continue;
    for (std::uint64_t seed = 2; seed < 5; ++seed) {
      const TwinRun again = run_on_emulator(twin, seed);
      ASSERT_TRUE(again.report.ok()) << twin.name << "\n" << again.report.text();
      EXPECT_EQ(disagreement(twin, again.out, first.out), "") << "seed " << seed;
    }
  }
}

/// D + A * B of a case of product_twins() with whole numbers, by the definition.
std::vector<float> plain_product(const TwinCase& twin) {
  const std::size_t n = twin.out.size() / 4 / twins::kProductM, k_end = twins::kProductK;
  const auto half = [&](std::size_t i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, twin.in.data() + 2 * i, 2);
    return twin.kernel.find("bf16") != std::string::npos ? device::to_float(device::Bf16{bits})
                                                         : device::f16_bits_to_float(bits);
  };
  std::vector<float> d(twins::kProductM * n);
  if (twin.b != 0) std::memcpy(d.data(), twin.in.data() + 2 * (twins::kProductM + n) * k_end, 4 * d.size());
  for (std::size_t m = 0; m < twins::kProductM; ++m)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < k_end; ++k)
        d[m * n + j] += half(m * k_end + k) * half(twins::kProductM * k_end + k * n + j);
  return d;
}

TEST(TwinList, of_products_are_products) {
  for (const TwinCase& twin : product_twins()) {
    if (twin.agreement.kind != Agreement::Kind::bits) continue;
    const std::vector<float> expected = plain_product(twin);
    const auto bytes = std::as_bytes(std::span(expected));
    EXPECT_EQ(disagreement(twin, run_on_emulator(twin).out, bytes), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Twins, testing::ValuesIn(twin_groups()),
                         [](const auto& group) { return group.param.name; });

/// Sources of a folder in one text, without comments.
std::string code_in(const std::string& folder) {
  std::string code;
  for (const auto& entry : std::filesystem::directory_iterator(MK_SOURCE_DIR + folder)) code += read_text(entry.path());
  return std::regex_replace(code, std::regex("//[^\n]*"), "");
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) names.insert((*i)[1]);
  return names;
}

/// Instructions that the vocabulary calls under another name, and that name.
const std::map<std::string, std::string> kUnderAnotherName = {
    {"max_nan", "device::max("},
    {"min_nan", "device::min("},
    {"ex2_approx", "device::exp2_approx("},
    {"rcp_approx", "device::reciprocal_approx("},
    {"tanh_approx", "device::tanh_approx("},
    {"div_full", "device::divide_approx("},
    {"sqrt_approx", "device::sqrt_approx("},
    {"cvt_rn_bf16x2", "device::pack<Bf16>("},
    {"cvt_rn_f16x2", "device::pack<F16>("},
    {"cvt_rn_bf16", "device::to_bf16("},
    {"cvt_rn_f16", "device::to_f16("},
    {"cvt_f32_f16", "device::f16_low("},
};

bool is_only_for_blackwell(const std::string& name) {
  return name.starts_with("tcgen05_") || name == "cp_async_bulk_tensor_g2s_pair";
}

TEST(TwinList, no_instruction_is_without_a_twin_test) {
  const std::string kernels = code_in("/tests/gpu/twins");
  const std::set<std::string> called = matches(kernels, R"(ptx::(?:detail::)?(\w+))");
  const std::set<std::string> defined = matches(code_in("/src/device/ptx"), R"(MK_DEVICE\s+[\w:<>]+\s+(\w+)\s*\()");
  EXPECT_GT(defined.size(), 100u);
  for (const std::string& name : defined) {
    const auto other = kUnderAnotherName.find(name);
    const bool under_another = other != kUnderAnotherName.end() && kernels.find(other->second) != std::string::npos;
    // Macros over widths call a stem.
    const std::string stem = std::regex_replace(name, std::regex("(u8|u16|u32|u64|v2|v4)$"), "");
    const char* macro = stem.find("shared") == std::string::npos ? R"(MK_GLOBAL_\w+\()" : R"(MK_SHARED_\w+\()";
    const bool by_width = stem != name && called.contains(stem) &&
                          std::regex_search(kernels, std::regex(macro + name.substr(stem.size()) + ","));
    EXPECT_TRUE(called.contains(name) || under_another || by_width || is_only_for_blackwell(name))
        << name << " of src/device/ptx is called by no kernel of tests/gpu/twins";
  }
  for (const auto& [name, other] : kUnderAnotherName) EXPECT_TRUE(defined.contains(name)) << name << " is no more";
}

TEST(TwinList, every_kernel_is_launched_by_a_case) {
  std::set<std::string> launched;
  for (const TwinGroup& group : twin_groups())
    for (const TwinCase& twin : group.cases()) launched.insert(twin.kernel);
  for (const std::string& name : matches(code_in("/tests/gpu/twins"), R"(MK_TWIN\((twin_\w+),)"))
    EXPECT_TRUE(launched.contains(name) || name.ends_with("_")) << name;
}

}  // namespace
}  // namespace megakittens::test
