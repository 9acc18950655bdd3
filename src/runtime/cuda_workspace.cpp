#include "runtime/cuda_workspace.hpp"

#include <utility>

#include "emulator/workspace.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

constexpr int kMaxDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kAttributeCooperative = 2;
constexpr int kAttributeCluster = 4;
constexpr int kPromotion256 = 3;                           // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
constexpr std::uint64_t kWaitLimitClocks = 4'000'000'000;  // about two seconds

struct alignas(64) EncodedMap {
  std::uint64_t words[16];
};

/// CUtensorMapDataType
int map_type(program::ElementType type) {
  switch (type) {
    case program::ElementType::bf16:
      return 9;
    case program::ElementType::f16:
      return 6;
    case program::ElementType::f32:
      return 7;
    case program::ElementType::i64:
      return 5;
    case program::ElementType::i32:
      return 3;
    case program::ElementType::boolean:
      return 0;
  }
  return 0;
}

EncodedMap encode(const program::TensorMapDescription& map, CuPointer storage) {
  EncodedMap encoded{};
  const unsigned ones[5] = {1, 1, 1, 1, 1};
  CuPointer base = storage + static_cast<std::uint64_t>(map.offset) * program::size_of(map.type);
  MK_CUDA(tensor_map_encode_tiled(&encoded, map_type(map.type), map.rank, reinterpret_cast<void*>(base), map.sizes,
                                  map.strides + 1, map.box, ones, 0, static_cast<int>(map.swizzle), kPromotion256, 0));
  return encoded;
}

DeviceMemory upload(const void* data, std::size_t bytes) {
  DeviceMemory memory(bytes);
  if (bytes != 0) MK_CUDA(memcpy_host_to_device(memory.address(), data, bytes));
  return memory;
}

template <class T>
T* as(const DeviceMemory& memory) {
  return reinterpret_cast<T*>(memory.address());
}

}  // namespace

DeviceMemory::DeviceMemory(std::size_t bytes) {
  MK_CUDA(mem_alloc(&address_, bytes == 0 ? 1 : bytes));
}
DeviceMemory::~DeviceMemory() {
  if (address_ != 0) driver().mem_free(address_);
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept : address_(std::exchange(other.address_, 0)) {}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(address_, other.address_);
  return *this;
}

Interpreter::Interpreter(const std::string& cubin, const char* entry, std::uint32_t threads, std::uint32_t shared_bytes)
    : threads_(threads), shared_bytes_(shared_bytes) {
  MK_CUDA(module_load_data(&module_, cubin.data()));
  MK_CUDA(module_get_function(&function_, module_, entry));
  MK_CUDA(func_set_attribute(function_, kMaxDynamicSharedBytes, static_cast<int>(shared_bytes)));
}
Interpreter::~Interpreter() {
  driver().module_unload(module_);
}

CudaWorkspace::CudaWorkspace(const program::Program& program, const Interpreter& interpreter,
                             std::span<const CuPointer> storages)
    : program_(program), interpreter_(interpreter) {
  MK_CHECK(storages.size() == program.storages.size(), "{} storages given, the program has {}", storages.size(),
           program.storages.size());
  std::vector<CuPointer> addresses(storages.begin(), storages.end());
  for (std::size_t s = 0; s < addresses.size(); ++s) {
    if (program.storages[s].kind == program::StorageKind::workspace) {
      workspace_.emplace_back(program.storages[s].bytes);
      addresses[s] = workspace_.back().address();
    }
    if (addresses[s] % 16 != 0)
      throw UserError(fmt::format("storage {} ('{}') lies at {:#x}, which is no multiple of 16", s,
                                  program.storages[s].name, addresses[s]));
  }
  std::vector<EncodedMap> maps;
  for (const program::TensorMapDescription& map : program.maps) maps.push_back(encode(map, addresses[map.storage]));
  instructions_ = upload(program.instructions.data(), program.instructions.size() * sizeof(program::Instruction));
  records_ = upload(program.records.data(), program.records.size() * sizeof(program::NodeRecord));
  maps_ = upload(maps.data(), maps.size() * sizeof(EncodedMap));
  addresses_ = upload(addresses.data(), addresses.size() * sizeof(CuPointer));
  counter_bytes_ = program.counters.size() * program::kCounterStride * sizeof(std::uint32_t);
  counters_ = DeviceMemory(counter_bytes_);
  control_ = DeviceMemory(sizeof(program::Control));
  reset();
  parameters_ = {.instructions = as<program::Instruction>(instructions_),
                 .records = as<program::NodeRecord>(records_),
                 .maps = as<void>(maps_),
                 .storages = as<void*>(addresses_),
                 .counters = as<std::uint32_t>(counters_),
                 .control = as<program::Control>(control_),
                 .wait_limit = kWaitLimitClocks,
                 .instruction_count = static_cast<std::uint32_t>(program.instructions.size()),
                 .global_queue = program.config.queue == program::QueueMode::global ? 1u : 0u};
}

void CudaWorkspace::reset() {
  if (counter_bytes_ != 0) MK_CUDA(memset_d8(counters_.address(), 0, counter_bytes_));
  MK_CUDA(memset_d8(control_.address(), 0, sizeof(program::Control)));
}

void CudaWorkspace::launch(CuStream stream) {
  CuLaunchAttribute attributes[2] = {};
  attributes[0].id = kAttributeCooperative;
  attributes[0].value.cooperative = 1;
  attributes[1].id = kAttributeCluster;
  attributes[1].value.cluster = {program_.config.cluster, 1, 1};
  CuLaunchConfig config{.grid = {program_.config.sms, 1, 1},
                        .block = {interpreter_.threads(), 1, 1},
                        .shared_bytes = interpreter_.shared_bytes(),
                        .stream = stream,
                        .attributes = attributes,
                        .attribute_count = program_.config.cluster > 1 ? 2u : 1u};
  void* parameters[] = {&parameters_};
  MK_CUDA(launch_kernel(&config, interpreter_.function(), parameters, nullptr));
}

void CudaWorkspace::synchronize(CuStream stream) {
  MK_CUDA(stream_synchronize(stream));
  program::Control control{};
  MK_CUDA(memcpy_device_to_host(&control, control_.address(), sizeof(control)));
  if (control.abort == 0) return;
  throw ExecutionError("the program is stuck: " + emulator::describe(control.record, program_));
}

}  // namespace megakittens::runtime
