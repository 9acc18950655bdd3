// A program with what runs it on the emulator, as Python holds it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/host_run.hpp"

namespace megakittens::python {

/// A program with the emulated machine's workspace, which one call at a time uses.
class Scheduled {
 public:
  explicit Scheduled(program::Program program) : program_(std::move(program)) {}

  const program::Program& program() const { return program_; }

  /// `memory` has address and bytes of every storage that is an input or output.
  void run_emulator(const std::map<std::uint32_t, std::pair<std::uintptr_t, std::size_t>>& memory, std::uint64_t seed,
                    bool check);

 private:
  program::Program program_;
  std::unique_ptr<runtime::HostProgram> machine_;
  std::recursive_mutex mutex_;  // one run at a time; recursive, so that a signal handler that calls is refused
  bool running_ = false;
};

}  // namespace megakittens::python
