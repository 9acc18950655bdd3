#include "emulator/chooser.hpp"

#include <algorithm>

#include "emulator/cta.hpp"

namespace megakittens::emulator {
namespace {

Mover name_of(const Warp& warp) {
  return {static_cast<std::uint16_t>(warp.cta->index), static_cast<std::uint16_t>(warp.index), 0};
}

constexpr std::uint64_t kBias = std::uint64_t{1} << 62;

}  // namespace

const char* name_of(Strategy strategy) {
  return strategy == Strategy::pct ? "pct" : "random";
}

Chooser::Chooser(const InterleavingOptions& options, std::uint64_t seed)
    : options_(options),
      seed_(seed),
      pct_(options.strategy == Strategy::pct && options.replay == nullptr),
      random_(seed),
      priorities_(~seed) {
  constexpr std::uint32_t kChances[] = {8, 64, 128, 224, 255};
  agent_chance_ = kChances[random_.below(5)];
  constexpr std::uint32_t kSwitches[] = {256, 128, 64, 16};
  switch_chance_ = kSwitches[random_.below(4)];
  prefer_some_warps_ = random_.below(2) == 1;
  constexpr std::uint32_t kLate[] = {0, 0, 48, 256};
  if (!pct_ && options.replay == nullptr) late_chance_ = kLate[priorities_.below(4)];
  if (!pct_) return;
  operations_bias_ = static_cast<int>(priorities_.below(3)) - 1;
  for (std::uint32_t i = 0; i < options.change_points; i++)
    change_points_.push_back(priorities_.next() % std::max<std::uint64_t>(options.expected_steps, 1));
  std::ranges::sort(change_points_);
}

Chooser::Choice Chooser::choose(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations) {
  Choice choice{};
  burst_limit_ = 0;
  if (options_.replay != nullptr) {
    if (!choose_recorded(ready, operations, choice)) choice = choose_oldest(ready, operations);
  } else {
    choice = pct_ ? choose_highest(ready, operations) : choose_randomly(ready, operations);
  }
  turns_++;
  burst_ = 0;
  highest_waiting_ = 0;
  if (!choice.operation) {
    ready[choice.index]->last_turn = turns_;
    ready[choice.index]->late = false;
  }
  if (options_.record)
    record_.push_back({choice.operation ? operations[choice.index].mover : name_of(*ready[choice.index])});
  return choice;
}

Chooser::Choice Chooser::choose_randomly(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations) {
  prompt_.clear();
  if (late_chance_ > 0) {
    for (std::uint32_t i = 0; i < ready.size(); i++)
      if (!ready[i]->late) prompt_.push_back(i);
  }
  const bool all_late = late_chance_ > 0 && prompt_.empty();
  if (!operations.empty() && (ready.empty() || all_late || random_.chance(agent_chance_)))
    return {true, random_.below(static_cast<std::uint32_t>(operations.size()))};
  const bool some_late = !prompt_.empty() && prompt_.size() < ready.size();
  const auto count = static_cast<std::uint32_t>(some_late ? prompt_.size() : ready.size());
  auto draw = [&] {
    const std::uint32_t i = random_.below(count);
    return some_late ? prompt_[i] : i;
  };
  std::uint32_t pick = draw();
  if (prefer_some_warps_) {  // of two, mostly the one with the luckier number: some warps lag far behind
    const std::uint32_t other = draw();
    auto luck = [&](std::uint32_t i) {
      return (ready[i]->index * 0x9E3779B9u ^ ready[i]->cta->index * 0x85EBCA6Bu ^ static_cast<std::uint32_t>(seed_)) *
             0xC2B2AE35u;
    };
    if (luck(other) > luck(pick) && !random_.chance(32)) pick = other;
  }
  return {false, pick};
}

Chooser::Choice Chooser::choose_highest(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations) {
  Choice best{};
  std::uint64_t highest = 0;
  bool found = false;
  auto consider = [&](std::uint64_t priority, bool operation, std::size_t i) {
    if (found && priority <= highest) return;
    best = {operation, i};
    highest = priority;
    found = true;
  };
  for (std::size_t i = 0; i < ready.size(); i++)
    if (!ready[i]->late) consider(ready[i]->priority, false, i);
  for (std::size_t i = 0; i < operations.size(); i++) consider(operations[i].priority, true, i);
  if (!found)  // only those that put themselves last
    for (std::size_t i = 0; i < ready.size(); i++) consider(ready[i]->priority, false, i);
  return best;
}

bool Chooser::choose_recorded(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations,
                              Choice& choice) {
  while (replayed_ < options_.replay->size()) {
    const Move& move = (*options_.replay)[replayed_++];
    if (move.mover.operation != 0) {
      const auto found = std::ranges::find(operations, move.mover, &InFlight::mover);
      if (found == operations.end()) continue;
      choice = {true, static_cast<std::size_t>(found - operations.begin())};
      return true;
    }
    const auto found = std::ranges::find_if(ready, [&](const Warp* warp) { return name_of(*warp) == move.mover; });
    if (found == ready.end()) continue;
    choice = {false, static_cast<std::size_t>(found - ready.begin())};
    burst_limit_ = move.steps;
    return true;
  }
  return false;
}

Chooser::Choice Chooser::choose_oldest(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations) {
  if (!operations.empty()) {
    const auto oldest = std::ranges::min_element(operations, {}, &InFlight::started);
    return {true, static_cast<std::size_t>(oldest - operations.begin())};
  }
  const auto longest = std::ranges::min_element(ready, {}, [](const Warp* warp) { return warp->last_turn; });
  return {false, static_cast<std::size_t>(longest - ready.begin())};
}

bool Chooser::interrupts(Warp& running, bool others) {
  steps_++;
  burst_++;
  bool interrupt = false;
  if (options_.replay != nullptr) {
    interrupt = burst_limit_ != 0 && burst_ >= burst_limit_;
  } else if (pct_) {
    while (changes_ < change_points_.size() && steps_ > change_points_[changes_]) {
      changes_++;
      running.priority =
          change_points_.size() - changes_;  // below all who were never put last, and all put last before
      interrupt = true;
    }
    interrupt = interrupt || highest_waiting_ > running.priority;
  } else {
    interrupt = random_.chance(switch_chance_);
  }
  if (!interrupt || !others) return false;
  if (options_.record) record_.back().steps = burst_;
  return true;
}

void Chooser::started(InFlight& operation) {
  operation.started = steps_ + turns_;
  if (!pct_) return;
  operation.priority = high();
  if (operations_bias_ > 0) operation.priority |= kBias;
  if (operations_bias_ < 0) operation.priority >>= 2;
  highest_waiting_ = std::max(highest_waiting_, operation.priority);
}

void Chooser::woken(Warp& warp) {
  if (pct_) highest_waiting_ = std::max(highest_waiting_, warp.priority);
  if (late_chance_ > 0) warp.late = priorities_.chance(late_chance_);
}

}  // namespace megakittens::emulator
