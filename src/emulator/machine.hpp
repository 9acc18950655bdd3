// The machine during one run: CTAs with their warps, asynchronous agents, global memory, and the scheduler that picks
// by seed who moves next. Single-threaded; twins reach it through current().
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "emulator/checker/checker.hpp"
#include "emulator/chooser.hpp"
#include "emulator/cta.hpp"
#include "emulator/faults.hpp"
#include "emulator/global_memory.hpp"
#include "emulator/launch.hpp"
#include "emulator/polls.hpp"

namespace megakittens::emulator {

class Machine {
 public:
  Machine(const LaunchConfig& config, Kernel kernel, const void* params);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Report run();

  /// The machine whose warp is running on this thread.
  static Machine& current();
  Warp& warp() { return *running_; }
  Cta& cta() { return *running_->cta; }
  const LaunchConfig& config() const { return config_; }
  Report& report() { return report_; }
  Findings& findings() { return findings_; }
  /// Null when the run does not check.
  Checker* checker() { return checker_.get(); }
  GlobalMemory& global() { return global_; }
  SyncWords& sync_words() { return sync_words_; }
  std::vector<std::unique_ptr<Cta>>& ctas() { return ctas_; }

  /// The running warp did something that others may see: others may move now.
  void step();
  /// Lets others move for certain.
  void pause();
  /// Parks the running warp; the object it waits for must hold waiter() or be watched otherwise.
  Wake park(const Wait& wait);
  Waiter waiter() { return {running_, running_->parking + 1}; }
  void wake(const Waiter& waiter, Wake how = Wake::kSatisfied);
  void wake_all(std::vector<Waiter>& waiters);
  /// The running warp polled an mbarrier or words of global memory. Parks the warp when it repeats a polling loop
  /// without progress.
  void look(Mbarrier* barrier, std::uint64_t address, std::uint64_t bytes, bool content = false);
  void written(std::uint64_t address, std::uint64_t bytes);

  void start(std::unique_ptr<Agent> agent);
  bool fault(FaultPoint point);
  /// The same for an operation on the mbarrier at a shared address, of this CTA or a peer.
  bool fault(FaultPoint point, std::uint32_t mbarrier);
  std::uint64_t nanoseconds() const { return nanoseconds_; }
  void add_finding(Rule rule, std::uint64_t likeness, const std::string& text) { findings_.add(rule, likeness, text); }
  std::string describe(const Warp& warp) const;
  /// Number of the running warp's context for records; zero without a checker.
  std::uint32_t context() { return running_->context; }
  void renew_context(Warp& warp);

 private:
  struct Unwind {};
  static void enter(void* warp);
  void make_ctas();
  void switch_out();
  void move();
  bool poll_is_due() const { return config_.poll && report_.steps >= next_poll_; }
  void poll();
  void run_warp(std::size_t index);
  void run_operation(std::size_t index);
  /// A warp that runs alone checks this, too: nothing interrupts it.
  bool over_step_limit() const { return config_.step_limit > 0 && report_.steps > config_.step_limit; }
  bool others_can_move() const { return !ready_.empty() || !operations_.empty(); }
  bool idle();
  void unwind_all();
  void finish(Warp& warp);
  std::string deadlock_text();
  std::string wait_text(const Warp& warp);
  std::uint64_t version_of(const Look& look);

  const LaunchConfig& config_;
  Kernel kernel_;
  const void* params_;
  Report report_;
  std::exception_ptr interruption_;  // what a fibre may not let out, or poll() has thrown; thrown by run()
  Findings findings_;
  std::unique_ptr<Checker> checker_;
  Chooser chooser_;
  FaultTable faults_;
  GlobalMemory global_;
  SyncWords sync_words_;
  WatchedLines watched_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<std::unique_ptr<Cta>> ctas_;
  std::vector<Warp*> ready_;
  std::vector<InFlight> operations_;
  Warp* running_ = nullptr;
  std::uint32_t unfinished_ = 0;
  bool unwinding_ = false;
  std::uint64_t nanoseconds_ = 1000;
  std::uint64_t progress_ = 0;   // steps other than unsuccessful polls
  std::uint64_t next_poll_ = 0;  // steps
  bool polling_ = false;         // the running warp has only switched out for poll(), and continues after it
  std::uint64_t idle_progress_ = 0;
  int idle_rounds_ = 0;
  int expirations_ = 0;
};

}  // namespace megakittens::emulator
