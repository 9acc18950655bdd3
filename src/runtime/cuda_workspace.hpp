// Runs programs on a GPU: what emulator::Workspace is on the emulated machine.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "program/launch.hpp"
#include "program/program.hpp"
#include "runtime/driver.hpp"

namespace megakittens::runtime {

/// Device memory of the current context, freed with the object.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  CuPointer address() const { return address_; }

 private:
  CuPointer address_ = 0;
};

/// The interpreter, loaded into the current context.
class Interpreter {
 public:
  /// `cubin` and the entry's name; `threads` and `shared_bytes` are the build's.
  Interpreter(const std::string& cubin, const char* entry, std::uint32_t threads, std::uint32_t shared_bytes);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  CuFunction function() const { return function_; }
  std::uint32_t threads() const { return threads_; }
  std::uint32_t shared_bytes() const { return shared_bytes_; }

 private:
  CuModule module_ = nullptr;
  CuFunction function_ = nullptr;
  std::uint32_t threads_;
  std::uint32_t shared_bytes_;
};

/// One program bound to storages, and its workspace. Launches follow each other on one stream.
class CudaWorkspace {
 public:
  /// `storages[s]` is the address of storage s where that is an input or an output, and ignored elsewhere; 16-byte
  /// aligned. The program and the interpreter must outlive the object. Throws UserError for a misaligned address,
  /// ExecutionError for what the driver refuses.
  CudaWorkspace(const program::Program& program, const Interpreter& interpreter, std::span<const CuPointer> storages);

  /// One launch, asynchronous; nothing before or after it. Capturable.
  void launch(CuStream stream);
  /// Waits for the stream; throws ExecutionError with the record where a wait expired.
  void synchronize(CuStream stream);
  /// Makes the workspace fit again after an abort. The stream must be idle.
  void reset();

 private:
  const program::Program& program_;
  const Interpreter& interpreter_;
  DeviceMemory instructions_, records_, maps_, addresses_, counters_, control_;
  std::size_t counter_bytes_ = 0;
  std::vector<DeviceMemory> workspace_;
  program::LaunchParameters parameters_{};
};

}  // namespace megakittens::runtime
