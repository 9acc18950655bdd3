// A program that a GPU runs: one launch a call, on the caller's stream.
#pragma once

#include <deque>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

#include "program/program.hpp"
#include "runtime/cuda_workspace.hpp"

namespace megakittens::runtime {

class CudaProgram {
 public:
  /// Loads the interpreter and uploads the program. `bound`: see lay_out(). Throws UserError where the program was made
  /// for another machine, and as CudaDevice does.
  CudaProgram(program::Program program, CudaDevice& device, const std::vector<bool>& bound = {});
  /// Waits for the device where launches were made. After a launch into a captured graph, and without close(), the
  /// device's memory is never given back: the graph may be replayed yet.
  ~CudaProgram();
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  const program::Program& program() const { return program_; }
  CudaDevice& device() const { return device_; }

  /// Launches once, asynchronously. `inputs[i]` is the address of program().inputs[i]'s storage, `outputs[k]` that of
  /// the k-th of output_storages(); multiples of 16. May be captured: the captured graph then has a workspace of its
  /// own, which lives as long as this object. Safe from several threads. Throws ExecutionError where an earlier launch
  /// gave up; the results of that launch and of those behind it are NaN, and the next call is right again, unless the
  /// stream captures: then only a call behind the capture clears up.
  void launch(CuStream stream, std::span<const CuPointer> inputs, std::span<const CuPointer> outputs);

  /// Throws as launch() does where an earlier launch is known to have given up; waits for nothing.
  void check();
  /// For tests: every workspace's next launch gives up.
  void plant_fault();
  /// Waits for all work on the device, then as check().
  void synchronize();
  /// Returns the device's memory, after waiting for the device. Later calls throw UserError.
  void close();

  /// Device memory of this program: instructions and records, and all its workspaces.
  std::uint64_t bytes() const;
  std::size_t workspaces() const;

 protected:
  /// What the destructor does; a second time nothing.
  void end();

 private:
  struct Place {
    std::uint64_t stream = 0;   // its number, which no other stream ever has; 0: the default stream
    std::uint64_t capture = 0;  // number of the capture, or 0
    std::unique_ptr<CudaWorkspace> workspace;
    int users = 0;  // threads about to launch on it, which no other stream may take it from
  };
  class Use;

  /// The stream's place, with one user more.
  Place& take_place(CuStream stream);
  void launch_on(CuStream stream, std::span<const CuPointer> storages);
  /// Throws what the launch that gave up has left behind, and makes its workspace fit again.
  void clear_up();
  void expect_open() const;
  /// For the rest of the process.
  void keep_for_graphs();

  program::Program program_;
  CudaDevice& device_;
  std::vector<std::uint32_t> outputs_;
  const bool blocking_;
  std::unique_ptr<UploadedProgram> uploaded_;
  std::deque<Place> places_;  // stay where they are
  mutable std::mutex places_mutex_;
  // Launches share it; clearing up after one that gave up, and closing, hold it alone.
  mutable std::shared_mutex life_;
};

}  // namespace megakittens::runtime
