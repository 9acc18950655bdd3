#include "passes/pipeline.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "support/error.hpp"

namespace megakittens::passes {
namespace {

constexpr Pass kPasses[] = {
#define MK_PASS(name, switch_name, summary) {#name, #switch_name, summary, &Options::switch_name, name},
#include "passes/passes.def"
};

#if defined(MK_VERIFY_PASSES)
constexpr bool kVerifiesEach = true;
#else
constexpr bool kVerifiesEach = false;
#endif

const Pass& find(std::string_view text, std::string_view Pass::* by, const char* what) {
  const auto* found = std::ranges::find(kPasses, text, by);
  if (found != std::end(kPasses)) return *found;
  std::vector<std::string_view> known;
  for (const Pass& pass : kPasses) known.push_back(pass.*by);
  throw OptionError(fmt::format("unknown {} '{}'; known are {}", what, text, fmt::join(known, ", ")));
}

}  // namespace

Numerics parse_numerics(std::string_view text) {
  if (text == "eager") return Numerics::eager;
  if (text == "fused") return Numerics::fused;
  throw OptionError(fmt::format("numerics '{}' is unknown; known are 'eager' and 'fused'", text));
}

std::span<const Pass> passes() {
  return kPasses;
}

void switch_pass(Options& options, std::string_view switch_name, bool on) {
  options.*find(switch_name, &Pass::switch_name, "switch of a pass").enabled = on;
}

const Pass& find_pass(std::string_view name) {
  return find(name, &Pass::name, "pass");
}

ir::Graph run_pipeline(const ir::Graph& graph, const Options& options) {
  ir::expect_bound(graph);
  ir::Graph result = graph;
  for (const Pass& pass : kPasses) {
    if (!(options.*pass.enabled)) continue;
    const auto start = std::chrono::steady_clock::now();
    result = pass.run(result, options);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (kVerifiesEach) ir::verify(result);
    if (options.observe) options.observe(pass.name, result, seconds);
  }
  ir::verify(result);
  return result;
}

}  // namespace megakittens::passes
