// Programs with a changed number are refused, or run to an end: on the emulator a tensor that is left, or code that is
// led astray, is a crash of the process.
#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "ir/builder.hpp"
#include "runtime/host_run.hpp"
#include "runtime/prepare.hpp"
#include "runtime/program_file.hpp"
#include "runtime/values.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/options.hpp"

namespace megakittens::runtime {
namespace {

using ir::DType;
using ir::Handle;

/// A product, tiled and general pointwise nodes, several types, a write in place, and rows that suit no vectors.
ir::Graph rich_graph(DType dtype) {
  ir::Builder builder("rich");
  const Handle x = builder.input("x", dtype, {64, 64}), w = builder.input("w", dtype, {64, 64});
  const Handle b = builder.input("b", dtype, {64, 64}), i = builder.input("i", DType::i64, {64});
  const Handle y = builder.relu(builder.add(builder.matmul(x, {w.value, w.view.transpose(0, 1)}), b));
  const Handle z = builder.pointwise(ir::PointwiseOp::mul, builder.reshape(y, {32, 128}), 2.0);
  builder.assign(x, builder.pointwise(ir::PointwiseOp::mul, x, 2.0));
  const Handle rows = builder.reshape(z, {64, 64});
  builder.output(builder.pointwise(ir::PointwiseOp::where,
                                   {builder.pointwise(ir::PointwiseOp::gt, rows, 0.0), rows, builder.cast(i, dtype)}));
  builder.output(builder.pointwise(ir::PointwiseOp::add, {y.value, y.view.slice(1, 3, 9)}, 1.0));
  return builder.build();
}

/// A copy with one to three numbers changed; a function of the seed.
std::string with_other_numbers(std::string text, std::uint64_t seed) {
  constexpr std::string_view kTelling[] = {"0",        "1",          "2",          "3",          "7",
                                           "-1",       "63",         "65",         "127",        "65535",
                                           "16777216", "2147483647", "2147483648", "4294967295", "512",
                                           "128",      "64",         "4294967296", "1000000",    "9223372036854775807"};
  constexpr std::int64_t kSteps[] = {-64, -1, 1, 2, 16, 64};
  std::mt19937_64 random(seed);
  for (std::uint64_t faults = random() % 5 < 3 ? 1 : 2 + random() % 2; faults > 0; --faults) {
    std::vector<std::pair<std::size_t, std::size_t>> numbers;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) continue;
      const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
      numbers.emplace_back(at, end - at);
      at = end;
    }
    const auto [at, length] = numbers[random() % numbers.size()];
    const auto [other, other_length] = numbers[random() % numbers.size()];
    std::string number(kTelling[random() % std::size(kTelling)]);
    if (random() % 3 == 0)
      number = text.substr(other, other_length);
    else if (length < 18 && random() % 3 == 0)
      number = std::to_string(std::stoll(text.substr(at, length)) + kSteps[random() % std::size(kSteps)]);
    text.replace(at, length, number);
  }
  return text;
}

/// More than that is slow, not wrong.
bool is_small(const program::Program& program) {
  std::uint64_t bytes = 0;
  for (const program::Storage& storage : program.storages) bytes += storage.bytes;
  return bytes < (1u << 20) && program.config.sms <= 16;
}

/// As `megakittens run` does. True where the program ran, well or not.
bool run(const std::string& text) {
  const program::Program program = parse_program(text, "a file");
  for (const schedule::Finding& finding : schedule::verify(program))
    if (finding.rule == schedule::Rule::outside) return false;
  if (!is_small(program)) return false;
  HostProgram(program).run(to_buffers(program, random_inputs(program, 1)), {.check = false, .step_limit = 1u << 20});
  return true;
}

void expect_no_crash(const ir::Graph& graph, const PrepareOptions& options) {
  const std::string text = program::to_text(prepare(graph, options));
  ASSERT_TRUE(run(text)) << "the program itself";
  const std::uint64_t count = flag_option(Knob::long_tests) ? 4'000 : 400;
  std::uint64_t ran = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    try {
      ran += run(with_other_numbers(text, seed)) ? 1 : 0;
    } catch (const UserError& refusal) {
      ASSERT_NE(std::string_view(refusal.what()), "");
    } catch (const std::exception& leak) {
      FAIL() << leak.what();
    }
  }
  EXPECT_GT(ran, count / 20) << "too many were refused to say much";
}

}  // namespace

TEST(ProgramRunFuzz, a_hopper_program_with_other_numbers_is_refused_or_runs) {
  expect_no_crash(rich_graph(DType::bf16), {.sms = 4});
}

TEST(ProgramRunFuzz, a_blackwell_program_in_pairs_with_other_numbers_is_refused_or_runs) {
  expect_no_crash(rich_graph(DType::f16),
                  {.architecture = program::Architecture::sm_100a, .sms = 4, .tiling = ops::Tiling::seed});
}

TEST(ProgramRunFuzz, a_program_of_general_products_with_other_numbers_is_refused_or_runs) {
  expect_no_crash(rich_graph(DType::f32), {.sms = 4, .cluster = 1, .queue = program::QueueMode::global});
}

}  // namespace megakittens::runtime
