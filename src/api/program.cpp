#include "megakittens/program.hpp"

#include "api/translate.hpp"
#include "runtime/cuda_run.hpp"
#include "runtime/host_run.hpp"
#include "runtime/program_file.hpp"
#include "runtime/values.hpp"
#include "support/error.hpp"

namespace megakittens {
namespace {

std::vector<TensorInfo> infos_of(const std::vector<program::Port>& ports) {
  std::vector<TensorInfo> list;
  for (const program::Port& port : ports) list.push_back(api::info_of(port));
  return list;
}

/// By storage number, and the seconds of RunResult.
std::pair<std::vector<runtime::HostBuffer>, double> execute(const program::Program& program,
                                                            std::vector<runtime::HostBuffer> inputs,
                                                            const RunOptions& options) {
  if (options.device == Device::cuda) {
    runtime::CudaRun run =
        runtime::run_on_gpu(program, runtime::CudaDevice::get(options.gpu), std::move(inputs), options.timed_launches);
    return {std::move(run.storages), run.microseconds * 1e-6};
  }
  emulator::RunOptions internal;
  internal.seed = options.schedule_seed;
  internal.check = options.check;
  runtime::HostRun run = runtime::HostProgram(program).run(std::move(inputs), internal);
  runtime::expect_good(program, run.report);
  return {std::move(run.storages), run.seconds};
}

}  // namespace

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (const program::Target& target : program::kTargets) names.emplace_back(target.name);
  return names;
}

ScheduleOptions options_for_gpu(int gpu) {
  const runtime::PrepareOptions usual = runtime::usual_options(runtime::CudaDevice::get(gpu));
  ScheduleOptions options;
  options.target = program::name_of(usual.architecture);
  options.sms = usual.sms;
  options.cluster = usual.cluster;
  return options;
}

Program Program::load(const std::string& path) {
  return Program(std::make_shared<const State>(State{runtime::load_program(path)}));
}

void Program::save(const std::string& path) const {
  runtime::save_program(state_->program, path);
}

std::string Program::to_text() const {
  return program::to_text(state_->program);
}

std::string Program::describe_instruction(std::size_t number) const {
  return program::describe_instruction(state_->program, number);
}

const std::string& Program::name() const {
  return state_->program.name;
}

std::vector<TensorInfo> Program::inputs() const {
  return infos_of(state_->program.inputs);
}

std::vector<TensorInfo> Program::outputs() const {
  return infos_of(state_->program.outputs);
}

std::size_t Program::instruction_count() const {
  return state_->program.instructions.size();
}

std::size_t Program::counter_count() const {
  return state_->program.counters.size();
}

std::uint32_t Program::waves() const {
  return state_->program.waves();
}

RunResult Program::run(const std::vector<HostTensor>& inputs, const RunOptions& options) const {
  const program::Program& program = state_->program;
  api::expect_tensors(fmt::format("program '{}'", program.name), this->inputs(), inputs);
  std::vector<runtime::HostBuffer> buffers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const program::Port& port = program.inputs[i];
    buffers.emplace_back(program.storages[port.storage].bytes);
    runtime::write_port(port, inputs[i].bytes(), buffers.back());
  }
  const auto [storages, seconds] = execute(program, std::move(buffers), options);
  RunResult result;
  result.seconds = seconds;
  for (const program::Port& port : program.outputs)
    result.outputs.push_back(api::tensor_of(port, storages[port.storage]));
  for (const program::Port& port : program.inputs)
    result.inputs.push_back(api::tensor_of(port, storages[port.storage]));
  return result;
}

}  // namespace megakittens
