#include "runtime/cuda_run.hpp"

#include "runtime/cuda_program.hpp"
#include "runtime/cuda_stream.hpp"
#include "runtime/host_run.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

constexpr unsigned kWarmLaunches = 3;

double time_launches(CudaProgram& program, const Stream& stream, const std::vector<CuPointer>& inputs,
                     const std::vector<CuPointer>& outputs, unsigned launches) {
  const Event start;
  const Event end;
  for (unsigned i = 0; i < kWarmLaunches + launches; ++i) {
    if (i == kWarmLaunches) MK_CUDA(event_record(start.get(), stream.get()));
    program.launch(stream.get(), inputs, outputs);
  }
  MK_CUDA(event_record(end.get(), stream.get()));
  MK_CUDA(event_synchronize(end.get()));
  float milliseconds = 0;
  MK_CUDA(event_elapsed_time(&milliseconds, start.get(), end.get()));
  program.check();
  return milliseconds * 1e3 / launches;
}

}  // namespace

PrepareOptions usual_options(const CudaDevice& device) {
  PrepareOptions options;
  options.architecture = device.architecture();
  options.sms = device.sms();
  options.cluster = program::target_of(options.architecture).family.cluster;
  return options;
}

CudaRun run_on_gpu(const program::Program& program, CudaDevice& device, std::vector<HostBuffer> inputs,
                   unsigned launches) {
  expect_inputs(program, inputs);
  CudaProgram loaded(program, device);
  const ContextScope scope(device.context());
  std::vector<DeviceMemory> memory;
  std::vector<CuPointer> given;
  std::vector<CuPointer> made;
  for (const HostBuffer& input : inputs) {
    given.push_back(memory.emplace_back(input.bytes()).address());
    device.upload(given.back(), input.data(), input.bytes());
  }
  const std::vector<std::uint32_t> outputs = output_storages(program);
  for (const std::uint32_t s : outputs) made.push_back(memory.emplace_back(program.storages[s].bytes).address());

  const Stream stream;
  loaded.launch(stream.get(), given, made);
  loaded.synchronize();
  CudaRun result;
  result.storages.resize(program.storages.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    device.download(inputs[i].data(), given[i], inputs[i].bytes());
    result.storages[program.inputs[i].storage] = std::move(inputs[i]);
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    HostBuffer& buffer = result.storages[outputs[k]] = HostBuffer(program.storages[outputs[k]].bytes);
    device.download(buffer.data(), made[k], buffer.bytes());
  }
  result.launches = launches;
  if (launches > 0) result.microseconds = time_launches(loaded, stream, given, made, launches);
  return result;
}

}  // namespace megakittens::runtime
