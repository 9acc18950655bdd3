#include "support/device_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "ops/common/merge.hpp"
#include "runtime/compare.hpp"
#include "runtime/host_run.hpp"
#include "runtime/values.hpp"
#include "support/accuracy.hpp"
#include "support/error.hpp"

namespace megakittens::test {
namespace {

constexpr int kComputeCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR

}  // namespace

std::string gpu_problem() {
  try {
    runtime::CuDevice device = 0;
    int count = 0;
    MK_CUDA(device_get_count(&count));
    if (count == 0) return "no GPU";
    MK_CUDA(device_get(&device, 0));
    int major = 0;
    MK_CUDA(device_get_attribute(&major, kComputeCapabilityMajor, device));
    if (major != 9) return fmt::format("the GPU has compute capability {}, the programs need 9", major);
    runtime::CuContext context = nullptr;
    MK_CUDA(device_primary_ctx_retain(&context, device));
    MK_CUDA(ctx_set_current(context));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::size_t spoil_a_wait(program::Program& program) {
  constexpr std::uint32_t kNever = 1000;
  std::size_t spoilt = 0;
  while (program.instructions[spoilt].wait_count == 0) ++spoilt;
  const std::uint32_t counter = program.instructions[spoilt].waits[0].counter;
  program.counters[counter].arrivals += kNever;
  for (program::Instruction& instruction : program.instructions)
    for (std::uint32_t w = 0; w < instruction.wait_count; ++w)
      if (instruction.waits[w].counter == counter) instruction.waits[w].arrivals += kNever;
  program.instructions[spoilt].waits[0].needed += kNever;
  return spoilt;
}

DeviceRun::DeviceRun(const ir::Graph& graph, const schedule::ScheduleOptions& options, const passes::Options& passes,
                     std::uint64_t input_seed)
    : program(schedule::schedule(passes::run_pipeline(graph, passes), options)),
      graph_(graph),
      inputs_(runtime::random_inputs(graph, input_seed)) {
  addresses_.resize(program.storages.size());
  for (std::size_t s = 0; s < program.storages.size(); ++s) {
    if (program.storages[s].kind == program::StorageKind::workspace) continue;
    memory_.emplace_back(program.storages[s].bytes);
    addresses_[s] = memory_.back().address();
  }
  restore_inputs();
  rebind();
}

void DeviceRun::restore_inputs() {
  std::vector<runtime::HostBuffer> buffers = runtime::to_buffers(program, inputs_);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    runtime::CudaDevice::get(0).upload(addresses_[program.inputs[i].storage], buffers[i].data(), buffers[i].bytes());
}

void DeviceRun::rebind() {
  loaded = std::make_unique<runtime::CudaProgram>(program, runtime::CudaDevice::get(0));
}

void DeviceRun::launch(runtime::CuStream on) {
  std::vector<runtime::CuPointer> inputs;
  std::vector<runtime::CuPointer> outputs;
  for (const program::Port& port : program.inputs) inputs.push_back(addresses_[port.storage]);
  for (const std::uint32_t s : runtime::output_storages(program)) outputs.push_back(addresses_[s]);
  loaded->launch(on, inputs, outputs);
}

void DeviceRun::synchronize() {
  MK_CUDA(stream_synchronize(stream.get()));
  loaded->check();
}

void DeviceRun::move_inputs() {
  for (const program::Port& port : program.inputs) {
    memory_.emplace_back(program.storages[port.storage].bytes);
    addresses_[port.storage] = memory_.back().address();
  }
  restore_inputs();
}

void DeviceRun::clear_outputs(unsigned char with) {
  for (const std::uint32_t s : runtime::output_storages(program))
    runtime::CudaDevice::get(0).fill(addresses_[s], with, program.storages[s].bytes);
}

bool DeviceRun::outputs_are_clear() const {
  return std::ranges::all_of(runtime::output_storages(program), [&](std::uint32_t s) {
    const runtime::HostBuffer bytes = download(s);
    return std::ranges::all_of(std::span(bytes.data(), bytes.bytes()),
                               [](std::byte b) { return b == std::byte{0xff}; });
  });
}

void DeviceRun::run() {
  clear_outputs();
  launch();
  synchronize();
}

void DeviceRun::take(std::vector<std::vector<float>> inputs) {
  inputs_ = std::move(inputs);
  expected_.reset();
  restore_inputs();
}

void DeviceRun::take_integers() {
  // Not from inputs_: there the right sides of deep products are so small that they would all become zeros.
  std::vector<std::vector<float>> inputs = runtime::random_inputs(program, 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!ir::is_floating(program.inputs[i].type)) continue;
    for (float& value : inputs[i]) value = std::round(3 * value);
  }
  take(std::move(inputs));
}

runtime::HostBuffer DeviceRun::download(std::uint32_t storage) const {
  runtime::HostBuffer buffer(program.storages[storage].bytes);
  runtime::CudaDevice::get(0).download(buffer.data(), addresses_[storage], buffer.bytes());
  return buffer;
}

ir::ReferenceResult DeviceRun::results() const {
  ir::ReferenceResult result;
  for (const program::Port& port : program.outputs)
    result.outputs.push_back(runtime::to_floats(port.type, runtime::read_port(port, download(port.storage))));
  for (const program::Port& port : program.inputs) {
    const runtime::HostBuffer storage = download(port.storage);
    result.inputs.push_back(runtime::to_floats(port.type, {storage.data(), storage.bytes()}));
  }
  return result;
}

std::string DeviceRun::difference_from_emulator() const {
  runtime::HostProgram emulated(program);
  emulator::RunOptions options;
  options.check = false;
  const runtime::HostRun run = emulated.run(runtime::to_buffers(program, inputs_), options);
  runtime::expect_good(program, run.report);
  for (const program::Port& port : program.outputs)
    if (runtime::read_port(port, download(port.storage)) != runtime::read_port(port, run.storages[port.storage]))
      return fmt::format("output '{}' differs from the emulator's", port.name);
  for (const program::Port& port : program.inputs) {
    const runtime::HostBuffer ours = download(port.storage);
    if (std::memcmp(ours.data(), run.storages[port.storage].data(), ours.bytes()) != 0)
      return fmt::format("input '{}' differs from the emulator's after the run", port.name);
  }
  return {};
}

const DeviceRun::Expected& DeviceRun::expected() {
  if (!expected_)
    expected_ = {.eager = ir::evaluate(graph_, inputs_),
                 .exact = ir::evaluate(graph_, inputs_, ir::ReferenceNumerics::exact)};
  return *expected_;
}

std::string DeviceRun::problem() {
  const auto& [eager, exact] = expected();
  auto compare = [](const program::Port& port, std::span<const std::byte> bytes, const std::vector<float>& rounded,
                    const std::vector<float>& unrounded) {
    const std::vector<float> got = runtime::to_floats(port.type, bytes);
    const runtime::Comparison result = runtime::compare(port.type, got, rounded);
    if (!result.ok()) return fmt::format("'{}': {}", port.name, runtime::to_string(result));
    const std::string text = worse_than_eager(got, rounded, unrounded);
    return text.empty() ? text : fmt::format("'{}': {}", port.name, text);
  };
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const program::Port& port = program.outputs[k];
    const runtime::HostBuffer storage = download(port.storage);
    std::string text = compare(port, runtime::read_port(port, storage), eager.outputs[k], exact.outputs[k]);
    if (!text.empty()) return text;
  }
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const program::Port& port = program.inputs[i];
    const runtime::HostBuffer storage = download(port.storage);
    std::string text = compare(port, {storage.data(), storage.bytes()}, eager.inputs[i], exact.inputs[i]);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace megakittens::test
