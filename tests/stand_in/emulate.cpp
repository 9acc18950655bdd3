#include "emulator/kernels.hpp"
#include "program/launch.hpp"
#include "state.hpp"

namespace megakittens::stand_in {
namespace {

constexpr int kLaunchFailed = 719;

}  // namespace

int emulate(const runtime::CuLaunchConfig& config, const void* given) {
  program::LaunchParameters parameters = *static_cast<const program::LaunchParameters*>(given);
  const emulator::KernelInfo kernel = emulator::kernel_for(program::Architecture::sm_90a);
  emulator::LaunchConfig launch;
  launch.grid = config.grid[0];
  launch.warps = config.block[0] / 32;
  launch.shared_bytes = config.shared_bytes;
  launch.check = false;
  launch.expire_waits = true;
  parameters.wait_limit = (1ull << 41) - 1;  // under one jump of emulated time
  for (unsigned i = 0; i < config.attribute_count; ++i)
    if (config.attributes[i].id == 4) launch.cluster = config.attributes[i].value.cluster.x;
  for (const auto* memory : {&state().allocations, &state().foreign})
    for (const auto& [address, bytes] : *memory)
      launch.buffers.push_back({.name = "memory", .data = reinterpret_cast<void*>(address), .bytes = bytes});
  const emulator::Report report = emulator::run(launch, kernel.kernel, &parameters);
  if (report.ok() || parameters.control->abort != 0) return 0;
  state().report = report.text();
  return kLaunchFailed;
}

}  // namespace megakittens::stand_in
