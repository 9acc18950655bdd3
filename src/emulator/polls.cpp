// When a polling warp parks, and what wakes it (polls.hpp).
#include <algorithm>

#include "emulator/machine.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::size_t kMostLooks = 64;     // a loop over more things than this spins
constexpr std::size_t kPruneWaiters = 64;  // stale entries are dropped from lists longer than this

void add_waiter(std::vector<Waiter>& waiters, const Waiter& waiter) {
  if (waiters.size() >= kPruneWaiters) {
    std::erase_if(waiters, [](const Waiter& w) { return !w.waits(); });
  }
  waiters.push_back(waiter);
}

}  // namespace

bool Waiter::waits() const {
  return warp->parked && warp->parking == parking;
}

std::uint64_t Machine::version_of(const Look& look) {
  return look.barrier != nullptr ? look.barrier->phases : watched_.watch(look.line).writes;
}

void Machine::look(Mbarrier* barrier, std::uint64_t address, std::uint64_t bytes, bool content) {
  if (unwinding_) return;
  report_.steps++;
  nanoseconds_ += 10;
  Warp& warp = *running_;
  bool circle = true;  // everything polled now was polled before and has not changed since
  const std::uint64_t first = address / kLineBytes;
  const std::uint64_t last = barrier != nullptr ? first : (address + bytes - 1) / kLineBytes;
  for (std::uint64_t line = first; line <= last; line++) {
    Look now{barrier, barrier != nullptr ? 0 : std::max(address, line * kLineBytes), line, 0, content};
    now.version = version_of(now);
    // Polls for the two parities of one mbarrier are distinct: when one succeeds the other fails.
    auto same = std::find_if(warp.looks.begin(), warp.looks.end(), [&](const Look& l) {
      return l.barrier == barrier && l.address == now.address && l.content == content;
    });
    if (same == warp.looks.end()) {
      circle = false;
      if (warp.looks.size() < kMostLooks) warp.looks.push_back(now);
    } else if (same->version != now.version) {
      circle = false;
      same->version = now.version;
    }
  }
  // A changed thing leaves the list: the loop polls it again or has moved on.
  circle = circle && std::erase_if(warp.looks, [&](const Look& l) { return l.version != version_of(l); }) == 0;
  if (circle && config_.spin) return pause();
  if (!circle) {
    if (!over_step_limit() && !chooser_.interrupts(warp, others_can_move())) return;
    ready_.push_back(running_);
    switch_out();
    return;
  }
  for (const Look& l : warp.looks) {
    add_waiter(l.barrier != nullptr ? l.barrier->waiters : watched_.watch(l.line).waiters, waiter());
  }
  // A deadlock names something that is missing.
  const auto missing = std::find_if(warp.looks.rbegin(), warp.looks.rend(), [](const Look& l) { return !l.content; });
  if (content && missing != warp.looks.rend())
    park({WaitKind::kWords, missing->barrier, missing->address, 0});
  else
    park({WaitKind::kWords, barrier, address, 0});
}

void Machine::written(std::uint64_t address, std::uint64_t bytes) {
  if (watched_.empty()) return;
  for (std::uint64_t line = address / kLineBytes; line <= (address + bytes - 1) / kLineBytes; line++) {
    if (WatchedLines::Line* watched = watched_.find(line)) {
      watched->writes++;
      wake_all(watched->waiters);
    }
  }
}

}  // namespace megakittens::emulator
