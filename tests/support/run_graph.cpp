#include "support/run_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "schedule/verify.hpp"
#include "support/element_bytes.hpp"
#include "support/error.hpp"

namespace megakittens::test {
namespace {

constexpr std::size_t kAlignment = 128;
constexpr unsigned char kPoison = 0xff;  // NaN in every floating type

/// Bytes whose used part begins `shift` past a multiple of 128.
class Buffer {
 public:
  Buffer(std::size_t bytes, std::size_t shift) : memory_(bytes + shift + 2 * kAlignment), shift_(shift) {}
  unsigned char* data() {
    auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kAlignment - address % kAlignment) % kAlignment + shift_;
  }
  void poison() { std::fill(memory_.begin(), memory_.end(), kPoison); }

 private:
  std::vector<unsigned char> memory_;
  std::size_t shift_;
};

std::vector<float> random_values(const ir::Tensor& tensor, std::mt19937_64& random, const RunSetup& setup) {
  std::vector<float> values(static_cast<std::size_t>(tensor.span()));
  std::uniform_real_distribution<float> real(setup.low, setup.high);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kSpecials[] = {NAN, kInfinity, -kInfinity, 0.0F, -0.0F, 60000.0F, -3.3e38F, 1e-7F, -1e-40F};
  for (float& value : values) {
    if (ir::is_floating(tensor.dtype) && setup.specials && random() % 8 == 0)
      value = ir::round_to(tensor.dtype, kSpecials[random() % std::size(kSpecials)]);
    else if (setup.integers)
      value = static_cast<float>(static_cast<int>(random() % 8) - 3);
    else if (ir::is_floating(tensor.dtype))
      value = ir::round_to(tensor.dtype, real(random));
    else if (tensor.dtype == ir::DType::boolean)
      value = static_cast<float>(random() % 2);
    else
      value = static_cast<float>(static_cast<int>(random() % 201) - 100);
  }
  return values;
}

std::string check(const program::Program& program) {
  std::string text;
  for (const schedule::Finding& finding : schedule::verify(program, {.most = 5, .type_of = {}}))
    text += fmt::format("{}: {}\n", name_of(finding.rule), finding.text);
  return text;
}

bool near(float got, float want, const Tolerance& tolerance) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return true;
  float bound = std::max(tolerance.absolute, tolerance.relative * std::max(std::fabs(got), std::fabs(want)));
  return std::isfinite(got) && std::isfinite(want) && std::fabs(got - want) <= bound;
}

}  // namespace

RunSetup small_machine() {
  RunSetup setup;
  setup.schedule.config.sms = 4;
  setup.schedule.config.cluster = 1;
  return setup;
}

std::vector<std::vector<float>> inputs_for(const ir::Graph& graph, const RunSetup& setup, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<float>> inputs;
  for (ir::ValueId id : graph.inputs) inputs.push_back(random_values(graph.value(id).tensor, random, setup));
  return inputs;
}

struct GraphRun::State {
  ir::Graph original;
  ir::Graph graph;
  RunSetup setup;
  program::Program program;
  std::vector<Buffer> buffers;
  std::unique_ptr<emulator::Workspace> workspace;
};

GraphRun::GraphRun(const ir::Graph& graph, RunSetup setup) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.original = graph;
  s.graph = passes::run_pipeline(graph, setup.passes);
  s.program = schedule::schedule(s.graph, setup.schedule);
  s.setup = std::move(setup);
  if (std::string findings = check(s.program); !findings.empty())
    throw InternalError(findings + ir::to_string(s.graph));
  for (std::size_t i = 0; i < s.program.storages.size(); ++i) {
    std::size_t shift = 0;
    if (i < s.graph.inputs.size())
      shift = static_cast<std::size_t>(s.setup.misaligned * ir::size_of(s.graph.value(s.graph.inputs[i]).tensor.dtype));
    s.buffers.emplace_back(s.program.storages[i].bytes, shift);
  }
  s.workspace = std::make_unique<emulator::Workspace>(s.program);
}

GraphRun::~GraphRun() = default;

const ir::Graph& GraphRun::graph() const {
  return state_->graph;
}
const program::Program& GraphRun::program() const {
  return state_->program;
}
program::Program& GraphRun::spoil() {
  return state_->program;
}
emulator::Workspace& GraphRun::workspace() {
  return *state_->workspace;
}

RunResult GraphRun::launch() {
  return launch(state_->setup.input_seed, state_->setup.run);
}

RunResult GraphRun::launch(std::uint64_t input_seed, const emulator::RunOptions& options) {
  State& s = *state_;
  std::vector<std::vector<float>> inputs = inputs_for(s.original, s.setup, input_seed);
  std::vector<void*> bases;
  for (std::size_t i = 0; i < s.buffers.size(); ++i) {
    s.buffers[i].poison();
    bases.push_back(s.buffers[i].data());
    if (i < inputs.size())
      write_elements(s.original.value(s.original.inputs[i]).tensor.dtype, inputs[i], s.buffers[i].data());
  }
  RunResult result;
  result.report = s.workspace->launch(bases, options);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    result.inputs.push_back(read_elements(s.original.value(s.original.inputs[i]).tensor.dtype, s.buffers[i].data(),
                                          static_cast<std::int64_t>(inputs[i].size())));
  for (const program::Port& port : s.program.outputs) {
    ir::View view{.offset = port.offset, .sizes = port.sizes, .strides = port.strides};
    auto dtype = static_cast<ir::DType>(port.type);
    std::vector<float> whole = read_elements(dtype, s.buffers[port.storage].data(), view.range().second);
    result.outputs.push_back(ir::gather(whole, view));
  }
  result.expected = ir::evaluate(s.original, std::move(inputs));
  return result;
}

Tolerance units_of(ir::DType dtype, float units) {
  float unit = dtype == ir::DType::bf16 ? 0x1p-8F : dtype == ir::DType::f16 ? 0x1p-11F : 0x1p-23F;
  // Subnormal halves have an absolute spacing.
  return {.absolute = dtype == ir::DType::f16 ? 0x1p-24F : 0, .relative = 2 * unit * units};
}

Tolerance product_tolerance(ir::DType dtype, std::int64_t depth) {
  Tolerance one = units_of(dtype);
  return {.absolute = std::sqrt(static_cast<float>(depth)) * 4e-6F, .relative = one.relative};
}

std::string difference(const std::vector<std::vector<float>>& got, const std::vector<std::vector<float>>& want,
                       const Tolerance& tolerance) {
  if (got.size() != want.size()) return fmt::format("{} tensors, {} expected", got.size(), want.size());
  for (std::size_t t = 0; t < got.size(); ++t) {
    if (got[t].size() != want[t].size())
      return fmt::format("tensor {} has {} elements, {} expected", t, got[t].size(), want[t].size());
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = got[t].size(); i-- > 0;)
      if (!near(got[t][i], want[t][i], tolerance)) ++wrong, first = i;
    if (wrong != 0)
      return fmt::format("tensor {}: {} of {} elements differ, the first is element {}: {}, expected {}", t, wrong,
                         got[t].size(), first, got[t][first], want[t][first]);
  }
  return {};
}

std::string problem_of(const RunResult& result, const Tolerance& tolerance) {
  if (!result.report.ok()) return result.report.text();
  if (std::string text = difference(result.outputs, result.expected.outputs, tolerance); !text.empty())
    return "outputs: " + text;
  if (std::string text = difference(result.inputs, result.expected.inputs, tolerance); !text.empty())
    return "inputs after the run: " + text;
  return {};
}

std::string run_and_compare(const ir::Graph& graph, const RunSetup& setup, const Tolerance& tolerance) {
  GraphRun run(graph, setup);
  std::string problem = problem_of(run.launch(), tolerance);
  return problem.empty() ? problem : problem + "\n" + ir::to_string(run.graph());
}

}  // namespace megakittens::test
