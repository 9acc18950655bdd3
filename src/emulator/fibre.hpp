// One warp's thread of control: a Boost.Context fibre that always switches to and from the scheduler.
#pragma once

#include <boost/context/fiber.hpp>

#include "emulator/stack_pool.hpp"

namespace megakittens::emulator {

class Fibre {
 public:
  using Entry = void (*)(void* argument);

  Fibre() = default;
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;
  ~Fibre();

  /// `entry` runs on its own stack at the first resume; it must not let an exception out.
  void start(std::size_t stack_bytes, Entry entry, void* argument);
  /// Called by the scheduler: runs the fibre until it suspends or ends.
  void resume();
  /// Called on the fibre: back to the scheduler.
  void suspend();
  bool done() const { return done_; }

 private:
  // The address sanitizer must know of every stack switch; otherwise it reports fibre frames as overflows.
  void leave_scheduler();
  void arrive_at_scheduler();
  void arrive_on_fibre();
  void leave_fibre(bool for_good);

  boost::context::fiber fibre_;
  boost::context::fiber scheduler_;
  Stack stack_;
  bool done_ = false;
  void* scheduler_fake_stack_ = nullptr;
  void* fibre_fake_stack_ = nullptr;
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
};

}  // namespace megakittens::emulator
