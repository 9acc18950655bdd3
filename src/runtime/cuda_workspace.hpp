// What launches of one program that follow each other share: counters, control words, and storages between nodes.
#pragma once

#include <mutex>
#include <span>

#include "program/launch.hpp"
#include "runtime/call_layout.hpp"
#include "runtime/cuda_device.hpp"
#include "runtime/tensor_map.hpp"

namespace megakittens::runtime {

/// As many clocks as fit where it is too long: 2^63 - 1. `milliseconds` is 1 or more, as MEGAKITTENS_WAIT_LIMIT_MS.
std::uint64_t clocks_of(std::int64_t milliseconds, std::uint64_t clocks_per_millisecond);

/// A program on a device: uploaded once, read by every workspace.
struct UploadedProgram {
  const program::Program& program;
  CudaDevice& device;
  const LoadedInterpreter& interpreter;
  CallLayout layout;
  DeviceMemory instructions;
  DeviceMemory records;
  DeviceMemory outputs;
  SharedWord alarm;  ///< raised by a launch that gives up
  std::uint64_t wait_limit = 0;

  UploadedProgram(const program::Program& program, CudaDevice& device, const std::vector<bool>& bound);
};

/// Launches on one workspace must follow each other: one stream, or one stream's part of one captured graph.
class CudaWorkspace {
 public:
  /// `keep_tables`: captured graphs refer to the tables, so that none is ever reused. The context is current, and the
  /// capture mode relaxed; so for launch().
  CudaWorkspace(const UploadedProgram& uploaded, bool keep_tables);

  /// One launch, asynchronous, with nothing before or after it. `storages[s]` is the address of storage s where that is
  /// an input or output, a multiple of 16. Throws UserError for another address. Safe from several threads.
  void launch(CuStream stream, std::span<const CuPointer> storages);

  /// Bytes of device memory.
  std::uint64_t bytes() const;
  /// The control words as they are now.
  program::Control control() const;
  /// True when every launch that launch() made has ended. Not for captured graphs, whose replays it does not see.
  bool idle() const;
  /// Makes the workspace fit again after an abort. Nothing may run on it.
  void reset();
  /// For tests: no wait of the next launch ends.
  void disturb();

 private:
  /// Addresses and maps of everything that does not travel with a call; immutable while launches may read it.
  struct Tables {
    std::vector<CuPointer> bound;
    DeviceMemory memory;
  };

  const Tables& tables_for(CuStream stream, std::span<const CuPointer> storages);
  void fill(Tables& tables, std::span<const CuPointer> storages) const;

  const UploadedProgram& uploaded_;
  const bool keep_tables_;
  DeviceMemory counters_;
  DeviceMemory control_;
  std::vector<DeviceMemory> storages_;  // by storage; empty where the caller binds it
  std::vector<Tables> tables_;
  std::size_t current_ = 0;  // in tables_
  std::vector<MapCache> maps_;
  program::LaunchParameters parameters_{};
  std::uint64_t launches_ = 0;  // since the last reset
  mutable std::mutex mutex_;
};

}  // namespace megakittens::runtime
