#include "runtime/cuda_workspace.hpp"

#include <algorithm>

#include "ops/instruction_type.hpp"
#include "support/error.hpp"
#include "support/options.hpp"

namespace megakittens::runtime {
namespace {

constexpr int kAttributeCooperative = 2;
constexpr int kAttributeCluster = 4;
constexpr int kAttributeProgrammatic = 6;
constexpr std::size_t kMaxTables = 8;  // of one workspace, unless graphs keep them
constexpr CuPointer kAlignment = 16;

template <class T>
DeviceMemory uploaded(const CudaDevice& device, const std::vector<T>& values) {
  DeviceMemory memory(values.size() * sizeof(T));
  device.upload(memory.address(), values.data(), values.size() * sizeof(T));
  return memory;
}

constexpr std::uint64_t kMost = INT64_MAX;  // clocks of a wait: device code doubles it

/// What the user allows, and what the program's long instructions may take.
std::uint64_t wait_limit_of(const program::Program& program, const CudaDevice& device) {
  const std::uint64_t work = ops::most_clocks(program);
  return work + std::min(clocks_of(integer_option(Knob::wait_limit), device.clocks_per_millisecond()), kMost - work);
}

}  // namespace

std::uint64_t clocks_of(std::int64_t milliseconds, std::uint64_t clocks_per_millisecond) {
  const auto wanted = static_cast<std::uint64_t>(milliseconds);
  return wanted > kMost / clocks_per_millisecond ? kMost : wanted * clocks_per_millisecond;
}

UploadedProgram::UploadedProgram(const program::Program& p, CudaDevice& d, const std::vector<bool>& bound)
    : program(p),
      device(d),
      interpreter(d.interpreter(p)),
      layout(lay_out(p, bound)),
      instructions(uploaded(d, p.instructions)),
      records(uploaded(d, renumbered_records(p, layout))),
      outputs(uploaded(d, renumbered_outputs(p, layout))),
      wait_limit(wait_limit_of(p, d)) {}

CudaWorkspace::CudaWorkspace(const UploadedProgram& uploaded, bool keep_tables)
    : uploaded_(uploaded),
      keep_tables_(keep_tables),
      counters_(uploaded.program.counters.size() * program::kCounterStride * sizeof(std::uint32_t)),
      control_(sizeof(program::Control)),
      maps_(uploaded.layout.call_maps.size() + uploaded.layout.other_maps.size()) {
  const program::Program& program = uploaded.program;
  for (const program::Storage& storage : program.storages)
    storages_.push_back(storage.kind == program::StorageKind::workspace ? DeviceMemory(storage.bytes) : DeviceMemory());
  reset();
  parameters_.instructions = uploaded.instructions.as<const program::Instruction>();
  parameters_.records = uploaded.records.as<const program::NodeRecord>();
  parameters_.outputs = uploaded.outputs.as<const program::OutputRecord>();
  parameters_.output_count = static_cast<std::uint32_t>(uploaded.outputs.bytes() / sizeof(program::OutputRecord));
  parameters_.counters = counters_.as<std::uint32_t>();
  parameters_.control = control_.as<program::Control>();
  parameters_.wait_limit = uploaded.wait_limit;
  parameters_.instruction_count = static_cast<std::uint32_t>(program.instructions.size());
  parameters_.first_node = program.first_node();
  parameters_.global_queue = program.config.queue == program::QueueMode::global ? 1 : 0;
  parameters_.alarm = uploaded.alarm.on_device();
  const std::size_t travelling = uploaded.layout.call_storages.size() + uploaded.layout.other_storages.size();
  parameters_.call_storages = static_cast<std::uint32_t>(travelling);
  parameters_.call_maps = static_cast<std::uint32_t>(maps_.size());
}

void CudaWorkspace::reset() {
  uploaded_.device.fill(counters_.address(), 0, counters_.bytes());
  uploaded_.device.fill(control_.address(), 0, control_.bytes());
  launches_ = 0;
}

void CudaWorkspace::disturb() {
  constexpr unsigned char kFarBack = 0x80;  // half a turn behind every target
  uploaded_.device.fill(counters_.address(), kFarBack, counters_.bytes());
}

std::uint64_t CudaWorkspace::bytes() const {
  std::scoped_lock lock(mutex_);
  std::uint64_t total = counters_.bytes() + control_.bytes();
  for (const DeviceMemory& storage : storages_) total += storage.bytes();
  for (const Tables& tables : tables_) total += tables.memory.bytes();
  return total;
}

program::Control CudaWorkspace::control() const {
  program::Control control{};
  uploaded_.device.download(&control, control_.address(), sizeof(control));
  return control;
}

bool CudaWorkspace::idle() const {
  std::scoped_lock lock(mutex_);
  const program::Control now = control();
  return now.abort == 0 && now.left == static_cast<std::uint32_t>(launches_ * uploaded_.program.config.sms);
}

void CudaWorkspace::fill(Tables& tables, std::span<const CuPointer> storages) const {
  const CallLayout& layout = uploaded_.layout;
  const program::Program& program = uploaded_.program;
  std::vector<CuPointer> addresses(storages.begin(), storages.end());
  for (std::size_t s = 0; s < addresses.size(); ++s)
    if (storages_[s].address() != 0) addresses[s] = storages_[s].address();
  // In the device's numbering. What travels with the calls has places here that nobody reads.
  std::vector<CuPointer> bases(addresses.size());
  for (std::size_t s = 0; s < addresses.size(); ++s) bases[layout.storage_number[s]] = addresses[s];
  std::vector<program::CallMap> maps(program.maps.size());
  for (std::size_t m = 0; m < maps.size(); ++m)
    if (const CuPointer base = addresses[program.maps[m].storage]; layout.map_number[m] >= maps_.size() && base != 0)
      maps[layout.map_number[m]] = encode(program.maps[m], base);
  const std::size_t map_bytes = maps.size() * sizeof(program::CallMap);
  const std::size_t base_bytes = bases.size() * sizeof(CuPointer);
  if (tables.memory.address() == 0) tables.memory = DeviceMemory(map_bytes + base_bytes);
  tables.bound.clear();
  uploaded_.device.upload(tables.memory.address(), maps.data(), map_bytes);
  uploaded_.device.upload(tables.memory.address() + map_bytes, bases.data(), base_bytes);
  for (const std::uint32_t s : layout.bound_storages) tables.bound.push_back(storages[s]);
}

const CudaWorkspace::Tables& CudaWorkspace::tables_for(CuStream stream, std::span<const CuPointer> storages) {
  const std::vector<std::uint32_t>& bound = uploaded_.layout.bound_storages;
  auto fits = [&](const Tables& tables) {
    if (tables.bound.size() != bound.size()) return false;
    for (std::size_t i = 0; i < bound.size(); ++i)
      if (tables.bound[i] != storages[bound[i]]) return false;
    return true;
  };
  if (current_ < tables_.size() && fits(tables_[current_])) return tables_[current_];
  for (std::size_t t = 0; t < tables_.size(); ++t)
    if (fits(tables_[t])) return tables_[current_ = t];
  RelaxedCapture relaxed;
  if (keep_tables_ || tables_.size() < kMaxTables) {
    Tables filled;
    fill(filled, storages);
    tables_.push_back(std::move(filled));
    return tables_[current_ = tables_.size() - 1];
  }
  // Launches in flight read the old tables.
  MK_CUDA(stream_synchronize(stream));
  current_ = (current_ + 1) % tables_.size();
  fill(tables_[current_], storages);
  return tables_[current_];
}

void CudaWorkspace::launch(CuStream stream, std::span<const CuPointer> given) {
  const program::Program& program = uploaded_.program;
  const CallLayout& layout = uploaded_.layout;
  for (std::size_t s = 0; s < given.size(); ++s)
    if (given[s] % kAlignment != 0)
      throw UserError(fmt::format("'{}' lies at {:#x}, which is no multiple of {}", program.storages[s].name, given[s],
                                  kAlignment));
  std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < layout.call_storages.size(); ++i)
    parameters_.storage_of_call[i] = given[layout.call_storages[i]];
  for (std::size_t i = 0; i < layout.other_storages.size(); ++i) {
    const std::uint32_t s = layout.other_storages[i];
    parameters_.storage_of_call[layout.call_storages.size() + i] =
        storages_[s].address() != 0 ? storages_[s].address() : given[s];
  }
  // Addresses of what keeps its own are looked at too: weights may be replaced.
  auto take_map = [&](std::size_t at, std::uint32_t number) {
    const program::TensorMapDescription& map = program.maps[number];
    const CuPointer own = storages_[map.storage].address();
    parameters_.map_of_call[at] = maps_[at].get(map, own != 0 ? own : given[map.storage]);
  };
  for (std::size_t i = 0; i < layout.call_maps.size(); ++i) take_map(i, layout.call_maps[i]);
  for (std::size_t i = 0; i < layout.other_maps.size(); ++i)
    take_map(layout.call_maps.size() + i, layout.other_maps[i]);
  const Tables& tables = tables_for(stream, given);
  parameters_.maps = reinterpret_cast<const void*>(tables.memory.address());
  parameters_.storages =
      reinterpret_cast<void* const*>(tables.memory.address() + program.maps.size() * sizeof(program::CallMap));

  const LoadedInterpreter& interpreter = uploaded_.interpreter;
  CuLaunchAttribute attributes[3] = {};
  attributes[0].id = kAttributeCooperative;
  attributes[0].value.cooperative = 1;
  // A CTA may start where one of the launch before has left, and set itself up; it waits for that launch's end before
  // it touches what kernels write (Controller::begin).
  attributes[1].id = kAttributeProgrammatic;
  attributes[1].value.programmatic = 1;
  attributes[2].id = kAttributeCluster;
  attributes[2].value.cluster = {program.config.cluster, 1, 1};
  CuLaunchConfig config{.grid = {program.config.sms, 1, 1},
                        .block = {interpreter.threads, 1, 1},
                        .shared_bytes = interpreter.shared_bytes,
                        .stream = stream,
                        .attributes = attributes,
                        .attribute_count = program.config.cluster > 1 ? 3u : 2u};
  void* arguments[] = {&parameters_};
  MK_CUDA(launch_kernel(&config, interpreter.function, arguments, nullptr));
  ++launches_;
}

}  // namespace megakittens::runtime
