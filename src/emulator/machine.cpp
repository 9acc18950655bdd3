#include "emulator/machine.hpp"

#include <algorithm>
#include <exception>

#include "device/core/warp.cuh"
#include "emulator/tensor_memory.hpp"
#include "emulator/wgmma.hpp"
#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

thread_local Machine* current_machine = nullptr;

constexpr std::uint64_t kNanosecondsPerStep = 10;
constexpr std::uint64_t kExpiry = std::uint64_t{1} << 40;  // about 18 minutes: beyond any bound a kernel waits for
constexpr std::uint64_t kStepsPerPoll = 1024;
constexpr int kIdleRounds = 3;     // times that everyone who polls looks again before we believe in a deadlock
constexpr int kExpirations = 512;  // times that time jumps without progress before we stop hoping

}  // namespace

Machine& Machine::current() {
  MK_CHECK(current_machine != nullptr, "device code runs on the host outside emulator::run");
  return *current_machine;
}

Machine::Machine(const LaunchConfig& config, Kernel kernel, const void* params)
    : config_(config),
      kernel_(kernel),
      params_(params),
      findings_(report_, config.max_findings),
      chooser_(config.interleaving, config.seed),
      faults_(config.faults, config.survey),
      global_(config.buffers) {
  if (config.check) checker_ = std::make_unique<Checker>(findings_, config.strict, config.declared);
  make_ctas();
}

Machine::~Machine() = default;

Report Machine::run() {
  MK_CHECK(current_machine == nullptr, "emulator::run inside a kernel that is being emulated");
  struct Current {
    explicit Current(Machine* machine) { current_machine = machine; }
    ~Current() { current_machine = nullptr; }
  } current(this);
  while (unfinished_ > 0 && report_.exception.empty()) {
    if (poll_is_due()) poll();
    if (interruption_ != nullptr) break;
    if (over_step_limit()) {
      report_.step_limit_reached = true;
      break;
    }
    if (others_can_move()) {
      move();
    } else if (!idle()) {
      report_.deadlock = deadlock_text();
      break;
    }
  }
  unwind_all();
  if (interruption_ != nullptr) std::rethrow_exception(interruption_);
  // What warps left behind still happens, as on the hardware: stores of a kernel that ended are complete.
  while (report_.deadlock.empty() && report_.exception.empty() && !operations_.empty()) {
    ready_.clear();
    move();
  }
  report_.interleaving = chooser_.take_record();
  report_.fault_places = faults_.places();
  return std::move(report_);
}

void Machine::move() {
  const Chooser::Choice choice = chooser_.choose(ready_, operations_);
  if (choice.operation) {
    run_operation(choice.index);
  } else {
    run_warp(choice.index);
  }
}

void Machine::poll() {
  next_poll_ = report_.steps + kStepsPerPoll;
  current_machine = nullptr;  // the callback may run another machine
  try {
    config_.poll();
  } catch (...) {
    interruption_ = std::current_exception();
  }
  current_machine = this;
}

void Machine::run_warp(std::size_t index) {
  running_ = ready_[index];
  ready_[index] = ready_.back();
  ready_.pop_back();
  report_.switches++;
  device::single_lane_depth = 0;  // a new fibre's; a suspended one restores its own
  running_->fibre.resume();
  while (polling_) {
    polling_ = false;
    poll();
    if (interruption_ != nullptr) return;
    running_->fibre.resume();
  }
  device::single_lane_depth = 0;
  if (running_->fibre.done()) finish(*running_);
}

void Machine::run_operation(std::size_t index) {
  InFlight operation = std::move(operations_[index]);
  operations_[index] = std::move(operations_.back());
  operations_.pop_back();
  nanoseconds_ += kNanosecondsPerStep;
  progress_++;
  if (operation.agent->advance(*this)) operations_.push_back(std::move(operation));
}

void Machine::start(std::unique_ptr<Agent> agent) {
  report_.async_operations++;
  InFlight operation{std::move(agent),
                     {static_cast<std::uint16_t>(running_->cta->index), static_cast<std::uint16_t>(running_->index),
                      ++running_->operations}};
  chooser_.started(operation);
  operations_.push_back(std::move(operation));
}

void Machine::enter(void* argument) {
  Warp& warp = *static_cast<Warp*>(argument);
  Machine& machine = current();
  if (machine.unwinding_) return;
  device::single_lane_depth = 0;  // the fibre that ran before may have left it raised
  try {
    machine.kernel_(machine.params_);
  } catch (const Unwind&) {  // NOLINT(bugprone-empty-catch): the fibre ends here
  } catch (const std::exception& error) {
    machine.report_.exception = fmt::format("{}: {}", machine.describe(warp), error.what());
  } catch (...) {
    // Not an error but a request to stop, such as Python's interrupt inside a user's touches(). It may not leave a
    // fibre.
    machine.report_.exception = fmt::format("{}: interrupted", machine.describe(warp));
    machine.interruption_ = std::current_exception();
  }
}

void Machine::switch_out() {
  const std::uint32_t depth = device::single_lane_depth;  // belongs to the fibre, lives in the thread
  running_->fibre.suspend();
  device::single_lane_depth = depth;
  // Destructors that run twins while we unwind must get through.
  if (unwinding_ && std::uncaught_exceptions() == 0)
    throw Unwind{};  // NOLINT(bugprone-std-exception-baseclass): nobody may catch it by chance
}

void Machine::step() {
  if (unwinding_) return;
  report_.steps++;
  progress_++;
  nanoseconds_ += kNanosecondsPerStep;
  running_->looks.clear();
  if (poll_is_due()) {
    polling_ = true;
    switch_out();
  }
  if (!over_step_limit() && !chooser_.interrupts(*running_, others_can_move())) return;
  ready_.push_back(running_);
  switch_out();
}

void Machine::pause() {
  if (unwinding_) return;
  report_.steps++;
  nanoseconds_ += kNanosecondsPerStep;
  chooser_.paused(*running_);
  ready_.push_back(running_);
  switch_out();
}

Wake Machine::park(const Wait& wait) {
  if (unwinding_) return Wake::kExpired;
  Warp& warp = *running_;
  warp.wait = wait;
  warp.parked = true;
  warp.parking++;
  switch_out();
  warp.wait.kind = WaitKind::kNothing;
  return warp.wake;
}

void Machine::wake(const Waiter& waiter, Wake how) {
  if (!waiter.waits()) return;
  Warp& warp = *waiter.warp;
  warp.parked = false;
  warp.wake = how;
  chooser_.woken(warp);
  ready_.push_back(&warp);
}

void Machine::wake_all(std::vector<Waiter>& waiters) {
  for (const Waiter& waiter : waiters) wake(waiter);
  waiters.clear();
}

bool Machine::idle() {
  if (idle_progress_ != progress_) {
    idle_progress_ = progress_;
    idle_rounds_ = 0;
    expirations_ = 0;
  }
  const bool look_again = idle_rounds_++ < kIdleRounds;
  const bool expire = !look_again && config_.expire_waits && expirations_ < kExpirations;
  if (!look_again && !expire) return false;
  if (expire) {
    nanoseconds_ += kExpiry;
    expirations_++;
    findings_.forgive_disorder();
    report_.expired_waits++;
  }
  for (auto& cta : ctas_) {
    for (auto& warp : cta->warps) {
      const bool polls = warp->wait.kind == WaitKind::kWords;
      if (warp->parked && (polls || (expire && warp->wait.kind == WaitKind::kMbarrier))) {
        wake({warp.get(), warp->parking}, Wake::kExpired);
      }
    }
  }
  return !ready_.empty() || look_again;
}

void Machine::unwind_all() {
  unwinding_ = true;
  for (auto& cta : ctas_) {
    for (auto& warp : cta->warps) {
      if (warp->finished) continue;
      running_ = warp.get();
      while (!warp->fibre.done()) warp->fibre.resume();
    }
  }
  unwinding_ = false;
}

bool Machine::fault(FaultPoint point) {
  if (faults_.empty()) return false;
  return faults_.hits(point, running_->cta->index, running_->index, running_->role, {});
}

bool Machine::fault(FaultPoint point, std::uint32_t mbarrier) {
  if (faults_.empty()) return false;
  // Every CTA names its objects alike.
  const std::map<std::uint64_t, std::string>& names = running_->cta->shared_region->names;
  const auto name = names.find(mbarrier & ((1u << kRankShift) - 1));
  return faults_.hits(point, running_->cta->index, running_->index, running_->role,
                      name == names.end() ? std::string() : name->second);
}

std::string Machine::describe(const Warp& warp) const {
  std::string out = fmt::format("CTA {} warp {}", warp.cta->index, warp.index);
  if (warp.role != nullptr) out += fmt::format(" ({}", warp.role);
  if (warp.role != nullptr && warp.instruction >= 0) out += fmt::format(", instruction {}", warp.instruction);
  if (warp.role != nullptr) out += ')';
  return out;
}

void Machine::renew_context(Warp& warp) {
  if (checker_ == nullptr) return;
  warp.context = checker_->context_of({static_cast<std::uint16_t>(warp.cta->index),
                                       static_cast<std::uint16_t>(warp.index), warp.role, warp.instruction});
}

Report run(const LaunchConfig& config, Kernel kernel, const void* params) {
  return Machine(config, kernel, params).run();
}

}  // namespace megakittens::emulator
