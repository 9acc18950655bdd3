#include "support/fault_run.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "ir/reference.hpp"
#include "jit/interpreter.hpp"
#include "runtime/compare.hpp"
#include "runtime/cuda_program.hpp"
#include "runtime/cuda_stream.hpp"
#include "runtime/host_run.hpp"
#include "runtime/values.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace megakittens::test {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

using runtime::DeviceMemory;

/// A set of inputs: values, their storages' bytes, and memory for them.
struct InputSet {
  std::vector<std::vector<float>> values;
  std::vector<runtime::HostBuffer> bytes;
  std::vector<DeviceMemory> memory;
  std::vector<runtime::CuPointer> addresses;
};

bool writes_inputs(const program::Program& program) {
  for (const program::NodeRecord& record : program.records)
    for (int k = record.operand_count - record.output_count; k < record.operand_count; ++k)
      for (const program::Port& port : program.inputs)
        if (record.operands[k].storage == port.storage) return true;
  return false;
}

class Launches {
 public:
  Launches(const CheckedProgram& checked, const program::Program& good, const program::Program& spoilt)
      : graph_(checked.graph()), program_(good), restores_(writes_inputs(good)) {
    runtime::CudaDevice& device = runtime::CudaDevice::get(0);
    MK_CUDA(ctx_set_current(device.context()));
    loaded_ = std::make_unique<runtime::CudaProgram>(spoilt, device);
    stream_.emplace();
    for (unsigned s = 0; s < kInputSets; ++s) {
      InputSet& set = sets_.emplace_back();
      set.values = runtime::random_inputs(graph_, 100 + s);
      set.bytes = runtime::to_buffers(program_, set.values);
      for (const runtime::HostBuffer& buffer : set.bytes)
        set.addresses.push_back(set.memory.emplace_back(buffer.bytes()).address());
      upload(set);
    }
    for (const std::uint32_t s : runtime::output_storages(program_))
      outputs_.push_back(memory_.emplace_back(program_.storages[s].bytes).address());
  }

  /// Empty, or a verdict.
  std::string launch(unsigned number, std::string& detail) {
    InputSet& set = sets_[number % kInputSets];
    if (restores_) upload(set);
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      runtime::CudaDevice::get(0).fill(outputs_[k], 0xff, memory_[k].bytes());
    try {
      loaded_->launch(stream_->get(), set.addresses, outputs_);
      MK_CUDA(stream_synchronize(stream_->get()));
      loaded_->check();
    } catch (const ExecutionError& error) {
      detail = error.what();
      return detail.find("gave up") != std::string::npos ? "expired wait" : "launch error";
    }
    return {};
  }

  /// What the launch left: outputs, and inputs where the program writes them.
  std::string results(unsigned number) const {
    std::string all;
    auto append = [&](runtime::CuPointer from, std::size_t bytes) {
      const std::size_t at = all.size();
      all.resize(at + bytes);
      runtime::CudaDevice::get(0).download(all.data() + at, from, bytes);
    };
    for (std::size_t k = 0; k < outputs_.size(); ++k) append(outputs_[k], memory_[k].bytes());
    if (!restores_) return all;
    const InputSet& set = sets_[number % kInputSets];
    for (std::size_t i = 0; i < set.addresses.size(); ++i) append(set.addresses[i], set.memory[i].bytes());
    return all;
  }

  /// Whether outputs are those of the reference.
  void expect_right(unsigned number) const {
    const ir::ReferenceResult expected = ir::evaluate(graph_, sets_[number % kInputSets].values);
    const std::vector<std::uint32_t> storages = runtime::output_storages(program_);
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) {
      const program::Port& port = program_.outputs[o];
      const auto place = std::ranges::find(storages, port.storage);
      if (place == storages.end()) continue;  // an input, which the results hold
      runtime::HostBuffer buffer(program_.storages[port.storage].bytes);
      runtime::CudaDevice::get(0).download(buffer.data(), outputs_[static_cast<std::size_t>(place - storages.begin())],
                                           buffer.bytes());
      const runtime::Comparison result = runtime::compare(
          port.type, runtime::to_floats(port.type, runtime::read_port(port, buffer)), expected.outputs[o]);
      if (!result.ok()) throw ExecutionError(fmt::format("'{}': {}", port.name, runtime::to_string(result)));
    }
  }

 private:
  static void upload(const InputSet& set) {
    for (std::size_t i = 0; i < set.bytes.size(); ++i)
      runtime::CudaDevice::get(0).upload(set.addresses[i], set.bytes[i].data(), set.bytes[i].bytes());
  }

  ir::Graph graph_;
  const program::Program& program_;
  const bool restores_;
  std::unique_ptr<runtime::CudaProgram> loaded_;
  std::optional<runtime::Stream> stream_;  // once the context is current
  std::vector<InputSet> sets_;
  std::vector<DeviceMemory> memory_;
  std::vector<runtime::CuPointer> outputs_;
};

std::string difference(const std::string& got, const std::string& expected) {
  const auto at = std::ranges::mismatch(got, expected).in1 - got.begin();
  const auto count = std::inner_product(got.begin(), got.end(), expected.begin(), std::size_t{0}, std::plus<>(),
                                        std::not_equal_to<>());
  return fmt::format("{} of {} bytes differ, the first at {}", count, got.size(), at);
}

}  // namespace

std::vector<CheckedProgram> gpu_fault_programs(const emulator::NamedFault& fault) {
  std::vector<CheckedProgram> programs;
  for (const char* name : {"MLP 1024", "in-place chain", "buffer-reuse chain", "many maps"}) {
    CheckedProgram program = checked_program(name);
    program.name += ", 132 SMs";
    // CTAs alone, as the runtime does it on Hopper. Chains in many nodes have more to hand over.
    program.options = {.cluster = 1, .passes = {.fusion = program.name.starts_with("MLP")}};
    programs.push_back(std::move(program));
  }
  programs.push_back(checked_program(fault.shown_by));
  return programs;
}

FaultVerdict run_fault(const CheckedProgram& checked, emulator::ProgramFault fault, const FaultPlan& plan) {
  const jit::InterpreterCubin cubin = jit::interpreter_cubin(program::Architecture::sm_90a);
  MK_CHECK(cubin.origin == "cached", "the interpreter is {}: the faulted one was not taken", cubin.origin);
  const program::Program good = prepare(checked);
  program::Program spoilt = good;
  FaultVerdict verdict;
  if (!emulator::plant(spoilt, fault)) return {.verdict = "no place"};
  std::string expected;
  if (!plan.reference) expected = read_file(plan.expected, kMostBytes);
  runtime::CudaDevice::get(0).interpreter(good);
  std::unique_ptr<Launches> launches;
  try {
    launches = std::make_unique<Launches>(checked, good, spoilt);
  } catch (const InternalError& error) {
    return {.verdict = "refused", .detail = error.what()};
  } catch (const UserError& error) {
    return {.verdict = "refused", .detail = error.what()};
  }
  for (unsigned i = 0; i < plan.launches && verdict.verdict.empty(); ++i) {
    verdict.launches = i + 1;
    verdict.verdict = launches->launch(i, verdict.detail);
    if (!verdict.verdict.empty()) break;
    const std::string got = launches->results(i);
    if (plan.reference && i < kInputSets) {
      launches->expect_right(i);
      expected += got;
    }
    const std::string want = expected.substr(got.size() * (i % kInputSets), got.size());
    MK_CHECK(want.size() == got.size(), "'{}' holds results of another program", plan.expected.string());
    if (got == want) continue;
    verdict.verdict = "wrong";
    verdict.detail = difference(got, want);
  }
  if (plan.reference) {
    if (!verdict.verdict.empty())
      throw ExecutionError(
          fmt::format("the unfaulted '{}' is not right: {}, {}", checked.name, verdict.verdict, verdict.detail));
    write_file(plan.expected, expected);
  }
  if (verdict.verdict.empty()) verdict.verdict = "not seen";
  // After a launch error nothing can be given back: kept for good.
  static auto* const abandoned = new std::vector<std::unique_ptr<Launches>>;
  if (verdict.verdict == "launch error") abandoned->push_back(std::move(launches));
  return verdict;
}

}  // namespace megakittens::test
