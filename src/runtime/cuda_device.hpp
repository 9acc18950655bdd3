// One GPU as this process uses it: its primary context, kept for good, and the interpreters, each loaded once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "program/program.hpp"
#include "runtime/cuda_memory.hpp"

namespace megakittens::runtime {

/// The interpreter in a context.
struct LoadedInterpreter {
  CuFunction function = nullptr;
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;
};

class CudaDevice {
 public:
  /// The GPU with that number, one object a process, never destroyed. Throws UserError where there is none or it is of
  /// no target. Safe from several threads.
  static CudaDevice& get(int ordinal);
  /// How many GPUs the driver shows. Throws UserError where there is no driver.
  static int count();

  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  program::Architecture architecture() const { return architecture_; }
  std::uint32_t sms() const { return sms_; }
  CuContext context() const { return context_; }
  /// Clocks of a multiprocessor in a millisecond, at its highest rate.
  std::uint64_t clocks_per_millisecond() const { return clocks_per_millisecond_; }

  /// The standard interpreter, or one with the program's own instruction types. Loaded at the first call: from the
  /// package, the cache, or NVRTC. Throws UserError where it cannot be compiled, the driver is too old for it, or one
  /// of the types is not registered.
  const LoadedInterpreter& interpreter(const program::Program& program);

  /// These use a stream of their own and return when the copy has been made. The context is current, and this thread's
  /// capture mode relaxed (RelaxedCapture) where a stream may be capturing.
  void upload(CuPointer to, const void* from, std::size_t bytes) const;
  void download(void* to, CuPointer from, std::size_t bytes) const;
  void fill(CuPointer to, unsigned char value, std::size_t bytes) const;

 private:
  explicit CudaDevice(int ordinal);

  int ordinal_;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  std::string name_;
  program::Architecture architecture_{};
  std::uint32_t sms_ = 0;
  std::uint64_t clocks_per_millisecond_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<LoadedInterpreter>> interpreters_;  // by the types that they have besides
};

}  // namespace megakittens::runtime
