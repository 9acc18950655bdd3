#include "runtime/host_run.hpp"

#include <chrono>

#include "runtime/values.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {

HostProgram::HostProgram(const program::Program& program) : program_(program), workspace_(program) {}

HostRun HostProgram::run(std::vector<HostBuffer> inputs, const emulator::RunOptions& options) {
  expect_inputs(program_, inputs);
  HostRun result;
  std::vector<void*> bound;
  for (HostBuffer& input : inputs) bound.push_back(input.data());
  result.storages.resize(program_.storages.size());
  std::vector<void*> outputs;
  for (const std::uint32_t s : output_storages(program_)) {
    result.storages[s] = HostBuffer(program_.storages[s].bytes);
    outputs.push_back(result.storages[s].data());
  }
  const auto start = std::chrono::steady_clock::now();
  result.report = run(bound, outputs, options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < inputs.size(); ++i) result.storages[program_.inputs[i].storage] = std::move(inputs[i]);
  return result;
}

emulator::Report HostProgram::run(std::span<void* const> inputs, std::span<void* const> outputs,
                                  const emulator::RunOptions& options) {
  const std::vector<std::uint32_t> fresh = output_storages(program_);
  MK_CHECK(inputs.size() == program_.inputs.size() && outputs.size() == fresh.size(),
           "{} inputs and {} outputs, the program has {} and {}", inputs.size(), outputs.size(), program_.inputs.size(),
           fresh.size());
  std::vector<void*> storages(program_.storages.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) storages[program_.inputs[i].storage] = inputs[i];
  for (std::size_t k = 0; k < fresh.size(); ++k) storages[fresh[k]] = outputs[k];
  for (std::size_t s = 0; s < storages.size(); ++s)
    if (program_.storages[s].kind == program::StorageKind::input && storages[s] == nullptr)
      throw FormatError(fmt::format("program '{}': storage {} '{}' is an input that nothing binds", program_.name, s,
                                    program_.storages[s].name));
  emulator::Report report;
  try {
    report = workspace_.launch(storages, options);
  } catch (...) {
    workspace_.reset();
    throw;
  }
  if (!report.ok()) workspace_.reset();
  return report;
}

void expect_inputs(const program::Program& program, std::span<const HostBuffer> inputs) {
  if (inputs.size() != program.inputs.size())
    throw UserError(
        fmt::format("program '{}' takes {} inputs, {} were given", program.name, program.inputs.size(), inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const std::uint64_t wanted = program.storages[program.inputs[i].storage].bytes; inputs[i].bytes() != wanted)
      throw UserError(fmt::format("input '{}' needs a storage of {} bytes, {} were given", program.inputs[i].name,
                                  wanted, inputs[i].bytes()));
}

std::vector<std::uint32_t> output_storages(const program::Program& program) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t s = 0; s < program.storages.size(); ++s)
    if (program.storages[s].kind == program::StorageKind::output) numbers.push_back(static_cast<std::uint32_t>(s));
  return numbers;
}

std::vector<HostBuffer> to_buffers(const program::Program& program, const std::vector<std::vector<float>>& inputs) {
  MK_CHECK(inputs.size() == program.inputs.size(), "{} inputs, the program has {}", inputs.size(),
           program.inputs.size());
  std::vector<HostBuffer> buffers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const program::Port& port = program.inputs[i];
    const std::uint64_t bytes = program.storages[port.storage].bytes;
    if (inputs[i].size() * program::size_of(port.type) != bytes)
      throw UserError(fmt::format("input '{}' needs a storage of {} bytes, {} elements of {} were given", port.name,
                                  bytes, inputs[i].size(), program::name_of(port.type)));
    buffers.emplace_back(bytes);
    from_floats(port.type, inputs[i], {buffers.back().data(), bytes});
  }
  return buffers;
}

void expect_good(const program::Program& program, const emulator::Report& report) {
  if (!report.ok())
    throw ExecutionError(fmt::format("program '{}' failed on the emulator:\n{}", program.name, report.text()));
}

}  // namespace megakittens::runtime
