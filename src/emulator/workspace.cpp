#include "emulator/workspace.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/tensor_map_fields.hpp"
#include "emulator/declared_regions.hpp"
#include "emulator/kernels.hpp"
#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::size_t kAlignment = 128;
constexpr std::uintptr_t kBulkAlignment = 16;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory allocate(std::size_t bytes) {
  std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment + kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) throw CapacityError(fmt::format("no memory for {} bytes of emulated storage", bytes));
  return Memory(memory);
}

device::TensorMap encode(const program::TensorMapDescription& map, void* storage) {
  device::TensorMapFields fields{};
  fields.base =
      reinterpret_cast<std::uint64_t>(storage) + static_cast<std::uint64_t>(map.offset) * program::size_of(map.type);
  fields.type = device::tensor_map_type(map.type);
  fields.rank = static_cast<std::uint8_t>(map.rank);
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    fields.dims_minus_one[d] = static_cast<std::uint32_t>(map.sizes[d] - 1);
    fields.box[d] = static_cast<std::uint16_t>(map.box[d]);
    fields.element_strides[d] = 1;
    if (d > 0) fields.strides[d - 1] = map.strides[d];
  }
  fields.swizzle = static_cast<device::Swizzle>(map.swizzle);
  fields.fill = device::OutOfBoundsFill::kZero;
  fields.magic = device::kTensorMapMagic;
  device::TensorMap encoded{};
  std::memcpy(&encoded, &fields, sizeof(fields));
  return encoded;
}
static_assert(static_cast<int>(program::Swizzle::b128) == static_cast<int>(device::Swizzle::k128B));

}  // namespace

struct Workspace::State {
  const program::Program& program;
  KernelInfo kernel;
  Memory counters;
  std::size_t counter_bytes = 0;
  program::Control control{};
  std::vector<Memory> storages;  // of kind workspace
  std::vector<bool> mapped;      // storages that bulk copies touch
  DeclaredRegions declared;

  explicit State(const program::Program& p) : program(p), kernel(kernel_for(p)), declared(p) {}
};

Workspace::Workspace(const program::Program& program) : state_(std::make_unique<State>(program)) {
  program::verify_bounds(program);
  program::expect_served(program);
  program::expect_interpreter(program.config);
  state_->counter_bytes = program.counters.size() * program::kCounterStride * sizeof(std::uint32_t);
  state_->counters = allocate(state_->counter_bytes);
  for (const program::Storage& storage : program.storages)
    state_->storages.push_back(storage.kind == program::StorageKind::workspace ? allocate(storage.bytes) : Memory());
  state_->mapped.resize(program.storages.size());
  for (const program::TensorMapDescription& map : program.maps) state_->mapped[map.storage] = true;
  for (const program::NodeRecord& record : program.records)
    for (int k = 0; k < record.operand_count; ++k)
      if ((record.operands[k].flags & program::kOperandBulk) != 0) state_->mapped[record.operands[k].storage] = true;
  reset();
}

Workspace::~Workspace() = default;

std::uint64_t Workspace::bytes() const {
  std::uint64_t total = state_->counter_bytes + sizeof(program::Control);
  for (const program::Storage& storage : state_->program.storages)
    if (storage.kind == program::StorageKind::workspace) total += storage.bytes;
  return total;
}

void Workspace::reset() {
  std::memset(state_->counters.get(), 0, state_->counter_bytes);
  state_->control = {};
}

void Workspace::begin_at(std::uint32_t launches) {
  const program::Program& program = state_->program;
  const std::uint32_t sms = program.config.sms;
  state_->control = {};
  state_->control.ticket = launches << program::kTicketBits;
  state_->control.launches = launches;
  state_->control.left = launches * sms;
  state_->control.head = launches * (static_cast<std::uint32_t>(program.instructions.size()) + sms);
  auto* words = static_cast<std::uint32_t*>(state_->counters.get());
  for (std::size_t c = 0; c < program.counters.size(); ++c)
    words[c * program::kCounterStride] = launches * program.counters[c].arrivals;
}

void Workspace::poison() {
  for (std::size_t s = 0; s < state_->storages.size(); ++s)
    if (state_->storages[s]) std::memset(state_->storages[s].get(), 0xff, state_->program.storages[s].bytes);
}

const program::AbortRecord& Workspace::abort_record() const {
  return state_->control.record;
}

program::Control& Workspace::control() {
  return state_->control;
}

Report Workspace::launch(std::span<void* const> storages, const RunOptions& options) {
  const program::Program& program = state_->program;
  MK_CHECK(storages.size() == program.storages.size(), "{} storages given, the program has {}", storages.size(),
           program.storages.size());
  LaunchConfig config;
  config.grid = program.config.sms;
  config.cluster = program.config.cluster;
  config.warps = state_->kernel.warps;
  config.shared_bytes = state_->kernel.shared_bytes;
  config.seed = options.seed;
  config.check = options.check;
  config.strict = options.strict;
  config.arithmetic = options.arithmetic;
  config.expire_waits = options.expire_waits;
  config.spin = options.spin;
  config.faults = options.faults;
  config.interleaving = options.interleaving;
  config.step_limit = options.step_limit;
  config.survey = options.survey;
  config.poll = options.poll;
  auto planted = [&](FaultPoint point) {
    return std::ranges::find(options.faults, point, &PlantedFault::point) != options.faults.end();
  };
  state_->declared.shrink(planted(FaultPoint::kDeclaredRegions));
  if (options.check) {
    state_->declared.collect_users();
    config.declared = &state_->declared;
  }
  if (planted(FaultPoint::kCountersLeft)) {
    const program::Control before = state_->control;
    begin_at(1);
    state_->control = before;
  }

  std::vector<void*> bases(storages.size());
  std::vector<Memory> copies(storages.size());
  auto add_buffer = [&](const std::string& name, const void* data, std::size_t bytes, Contents contents, int tag = -1) {
    if (bytes != 0)
      config.buffers.push_back(
          {.name = name, .data = const_cast<void*>(data), .bytes = bytes, .contents = contents, .tag = tag});
  };
  for (std::size_t s = 0; s < storages.size(); ++s) {
    const program::Storage& storage = program.storages[s];
    bases[s] = storage.kind == program::StorageKind::workspace ? state_->storages[s].get() : storages[s];
    bool input = storage.kind == program::StorageKind::input;
    if (state_->mapped[s] && reinterpret_cast<std::uintptr_t>(bases[s]) % kBulkAlignment != 0) {
      copies[s] = allocate(storage.bytes);
      if (input) std::memcpy(copies[s].get(), bases[s], storage.bytes);
      bases[s] = copies[s].get();
    }
    Contents contents = !input ? Contents::kUnwritten : storage.mutated ? Contents::kInitialised : Contents::kReadOnly;
    add_buffer(storage.name, bases[s], storage.bytes, contents, static_cast<int>(s));
  }
  std::vector<device::TensorMap> maps;
  for (const program::TensorMapDescription& map : program.maps) maps.push_back(encode(map, bases[map.storage]));
  add_buffer("tensor maps", maps.data(), maps.size() * sizeof(device::TensorMap), Contents::kReadOnly);
  add_buffer("instructions", program.instructions.data(), program.instructions.size() * sizeof(program::Instruction),
             Contents::kReadOnly);
  add_buffer("node records", program.records.data(), program.records.size() * sizeof(program::NodeRecord),
             Contents::kReadOnly);
  add_buffer("storage addresses", static_cast<const void*>(bases.data()), bases.size() * sizeof(void*),
             Contents::kReadOnly);
  add_buffer("counters", state_->counters.get(), state_->counter_bytes, Contents::kInitialised);
  add_buffer("control", &state_->control, sizeof(state_->control), Contents::kInitialised);

  const std::vector<program::OutputRecord> outputs = program.output_records();
  add_buffer("output records", outputs.data(), outputs.size() * sizeof(program::OutputRecord), Contents::kReadOnly);

  program::LaunchParameters parameters{.instructions = program.instructions.data(),
                                       .records = program.records.data(),
                                       .maps = maps.data(),
                                       .storages = bases.data(),
                                       .counters = static_cast<std::uint32_t*>(state_->counters.get()),
                                       .control = &state_->control,
                                       .wait_limit = options.wait_limit,
                                       .instruction_count = static_cast<std::uint32_t>(program.instructions.size()),
                                       .global_queue = program.config.queue == program::QueueMode::global ? 1u : 0u,
                                       .outputs = outputs.data(),
                                       .output_count = static_cast<std::uint32_t>(outputs.size()),
                                       .first_node = program.first_node()};
  Report report = run(config, state_->kernel.kernel, &parameters);
  for (std::size_t s = 0; s < storages.size(); ++s)
    if (copies[s] && (program.storages[s].mutated || program.storages[s].kind == program::StorageKind::output))
      std::memcpy(storages[s], copies[s].get(), program.storages[s].bytes);
  return report;
}

std::string describe(const program::AbortRecord& record, const program::Program& program) {
  static constexpr const char* kRoles[] = {"controller", "loader", "follower", "launcher", "storer", "consumer"};
  static constexpr const char* kKinds[] = {"nothing",      "a free slot",   "the next instruction", "page",
                                           "ring stage",   "filled stage",  "finished tile",        "leave to write",
                                           "stores",       "tensor memory", "the other consumers",  "counter",
                                           "the workspace"};
  const char* role = record.role < std::size(kRoles) ? kRoles[record.role] : "unknown role";
  const char* kind = record.kind < std::size(kKinds) ? kKinds[record.kind] : "unknown wait";
  std::string where = fmt::format("{} (warp {}) of CTA {} on SM {}", role, record.warp, record.cta, record.sm);
  if (record.instruction < program.instructions.size()) {
    where += fmt::format(", instruction {}", record.instruction);
    if (record.node < program.records.size())
      where += fmt::format(" of node '{}'", program.nodes[program.records[record.node].number].name);
  }
  if (record.kind == static_cast<std::uint32_t>(program::WaitKind::busy))
    // The value counts from the target on, which those that have not left make negative.
    return fmt::format("{} found the workspace in use: of the launches before {} CTAs had left, not {}", where,
                       record.value + record.target, record.target);
  return fmt::format("{} waited too long for {} {}: it is {}, needs {}", where, kind, record.what, record.value,
                     record.target);
}

}  // namespace megakittens::emulator
