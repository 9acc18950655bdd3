#include "schedule/verify_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace megakittens::schedule {
namespace {

using program::Instruction;

/// Turns (key, entry) pairs into lists by key, each ascending and without repetition.
void group(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs, std::size_t keys,
           std::vector<std::uint32_t>& first, std::vector<std::uint32_t>& entries) {
  std::vector<std::uint32_t> begin(keys + 1, 0);
  for (const auto& [key, entry] : pairs) ++begin[key + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  entries.resize(pairs.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const auto& [key, entry] : pairs) entries[next[key]++] = entry;
  first.assign(keys + 1, 0);
  auto out = entries.begin();
  for (std::size_t key = 0; key < keys; ++key) {
    const auto from = entries.begin() + begin[key];
    const auto to = entries.begin() + begin[key + 1];
    std::sort(from, to);
    out = std::copy(from, std::unique(from, to), out);
    first[key + 1] = static_cast<std::uint32_t>(out - entries.begin());
  }
  entries.erase(out, entries.end());
}

bool has(const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& entries, std::uint32_t key,
         std::uint32_t entry) {
  return std::binary_search(entries.begin() + first[key], entries.begin() + first[key + 1], entry);
}

}  // namespace

Order::Order(const program::Program& program, std::span<const std::uint8_t> touched)
    : program_(program), touched_(touched) {
  const std::size_t counters = program.counters.size();
  last_arriver_.assign(counters, 0);
  arriver_first_.assign(counters + 1, 0);
  auto for_each_arrival = [&](auto&& visit) {
    for (const Instruction& instruction : program.instructions)
      for (int a = 0; a < instruction.arrival_count; ++a) visit(instruction.number, instruction.arrivals[a]);
  };
  for_each_arrival([&](std::uint32_t i, std::uint32_t counter) {
    last_arriver_[counter] = i;
    ++arriver_first_[counter + 1];
  });
  std::partial_sum(arriver_first_.begin(), arriver_first_.end(), arriver_first_.begin());
  arrivers_.resize(arriver_first_.back());
  std::vector<std::uint32_t> next(arriver_first_.begin(), arriver_first_.end() - 1);
  for_each_arrival([&](std::uint32_t i, std::uint32_t counter) { arrivers_[next[counter]++] = i; });
  stamp_.assign(counters, 0);
  collect_before();
}

// Some role executes the wait, and it ends only when every arrival has happened.
bool Order::counts(const Instruction& instruction, int wait) const {
  const program::Wait& w = instruction.waits[wait];
  return (instruction.guard(wait) & touched_[instruction.number]) != 0 &&
         w.needed == arriver_first_[w.counter + 1] - arriver_first_[w.counter];
}

void Order::collect_before() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> noops;
  for (const Instruction& instruction : program_.instructions) {
    for (int w = 0; w < instruction.wait_count; ++w) {
      if (!counts(instruction, w)) continue;
      for (int a = 0; a < instruction.arrival_count; ++a) {
        all.emplace_back(instruction.arrivals[a], instruction.waits[w].counter);
        if (instruction.icode == 0) noops.push_back(all.back());
      }
    }
  }
  group(all, program_.counters.size(), before_first_, before_);
  group(noops, program_.counters.size(), noop_before_first_, noop_before_);
}

bool Order::check(const std::function<void(Finding)>& report) {
  check_counts(report);
  const std::size_t count = program_.instructions.size();
  down_ = points_down();
  if (down_) {
    sequence_.resize(count);
    std::iota(sequence_.begin(), sequence_.end(), 0u);
    return true;
  }
  if (program_.config.queue == program::QueueMode::global) {
    for (const Instruction& instruction : program_.instructions)
      for (int w = 0; w < instruction.wait_count; ++w) {
        const std::uint32_t last = last_arriver_[instruction.waits[w].counter];
        if (last < instruction.number) continue;
        report({Rule::deadlock, instruction.number, last,
                fmt::format("instruction {} waits for counter {}, which instruction {} raises; in the global queue a "
                            "wait must point to a lower ticket",
                            instruction.number, instruction.waits[w].counter, last)});
      }
  }
  sort_by_waits();
  if (sequence_.size() == count) return true;
  std::vector<bool> placed(count, false);
  for (std::uint32_t i : sequence_) placed[i] = true;
  const auto stuck = static_cast<std::uint32_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  report({Rule::deadlock, stuck, stuck,
          fmt::format("{} instructions can never start: their waits and the order of their queues form a cycle; the "
                      "first is instruction {}",
                      count - sequence_.size(), stuck)});
  return false;
}

void Order::check_counts(const std::function<void(Finding)>& report) const {
  for (std::uint32_t c = 0; c < program_.counters.size(); ++c) {
    const std::uint32_t raised = arriver_first_[c + 1] - arriver_first_[c];
    if (raised == program_.counters[c].arrivals) continue;
    const std::uint32_t last = last_arriver_[c];
    report({Rule::counts, last, last,
            fmt::format("counter {} is raised {} times, {} are declared", c, raised, program_.counters[c].arrivals)});
  }
  for (const Instruction& instruction : program_.instructions)
    for (int w = 0; w < instruction.wait_count; ++w) {
      const program::Wait& wait = instruction.waits[w];
      const std::uint32_t raised = arriver_first_[wait.counter + 1] - arriver_first_[wait.counter];
      if (wait.needed == raised) continue;
      report({Rule::counts, instruction.number, instruction.number,
              fmt::format("instruction {} needs {} arrivals of counter {}, which is raised {} times",
                          instruction.number, wait.needed, wait.counter, raised)});
    }
}

bool Order::points_down() const {
  for (const Instruction& instruction : program_.instructions)
    for (int w = 0; w < instruction.wait_count; ++w) {
      const std::uint32_t counter = instruction.waits[w].counter;
      if (arriver_first_[counter] == arriver_first_[counter + 1]) return false;
      if (last_arriver_[counter] >= instruction.number) return false;
    }
  return true;
}

// An instruction is ready once its queue's previous one and all arrivers of its counters are done.
void Order::sort_by_waits() {
  const std::size_t count = program_.instructions.size();
  const std::uint32_t step = program_.config.queue == program::QueueMode::per_sm ? program_.config.sms : 1;
  std::vector<std::vector<std::uint32_t>> waiters(program_.counters.size());
  std::vector<std::uint32_t> open(count, 0);
  std::vector<std::uint32_t> missing(program_.counters.size(), 0);
  for (std::uint32_t c = 0; c < missing.size(); ++c) missing[c] = arriver_first_[c + 1] - arriver_first_[c];
  for (std::uint32_t i = 0; i < count; ++i) {
    const Instruction& instruction = program_.instructions[i];
    open[i] = i >= step ? 1 : 0;
    for (int w = 0; w < instruction.wait_count; ++w) {
      waiters[instruction.waits[w].counter].push_back(i);
      ++open[i];
    }
  }
  sequence_.clear();
  for (std::uint32_t i = 0; i < count; ++i)
    if (open[i] == 0) sequence_.push_back(i);
  for (std::size_t done = 0; done < sequence_.size(); ++done) {
    const std::uint32_t i = sequence_[done];
    auto close = [&](std::uint32_t waiter) {
      if (--open[waiter] == 0) sequence_.push_back(waiter);
    };
    if (i + step < count) close(i + step);
    const Instruction& instruction = program_.instructions[i];
    for (int a = 0; a < instruction.arrival_count; ++a) {
      const std::uint32_t counter = instruction.arrivals[a];
      if (--missing[counter] > 0) continue;
      for (std::uint32_t waiter : waiters[counter]) close(waiter);
    }
  }
}

void Order::find_sources(std::uint32_t second, std::uint32_t guard) {
  second_ = second;
  guard_ = guard;
  sources_.clear();
  ++epoch_;
  auto add = [&](std::uint32_t counter) {
    if (stamp_[counter] == epoch_) return;
    stamp_[counter] = epoch_;
    sources_.push_back(counter);
  };
  const Instruction& instruction = program_.instructions[second];
  for (int w = 0; w < instruction.wait_count; ++w)
    if ((instruction.guard(w) & guard) != 0 && counts(instruction, w)) add(instruction.waits[w].counter);
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const std::uint32_t counter = sources_[s];
    for (std::uint32_t b = noop_before_first_[counter]; b < noop_before_first_[counter + 1]; ++b) add(noop_before_[b]);
  }
}

Order::Relation Order::relation(std::uint32_t first, std::uint32_t second, std::uint32_t guard) {
  if (second != second_ || guard != guard_) find_sources(second, guard);
  const Instruction& instruction = program_.instructions[first];
  for (int a = 0; a < instruction.arrival_count; ++a)
    if (std::find(sources_.begin(), sources_.end(), instruction.arrivals[a]) != sources_.end()) return Relation::direct;
  for (int a = 0; a < instruction.arrival_count; ++a)
    for (std::uint32_t source : sources_)
      if (has(before_first_, before_, source, instruction.arrivals[a])) return Relation::indirect;
  return reaches(first) ? Relation::indirect : Relation::none;
}

// Backwards from the sources over complete counters, leaving out those whose last arriver comes before `first` in a
// program whose waits all point down.
bool Order::reaches(std::uint32_t first) {
  const Instruction& instruction = program_.instructions[first];
  std::vector<std::uint32_t> open(sources_);
  ++epoch_;
  for (std::uint32_t counter : open) stamp_[counter] = epoch_;
  while (!open.empty()) {
    const std::uint32_t counter = open.back();
    open.pop_back();
    for (int a = 0; a < instruction.arrival_count; ++a)
      if (instruction.arrivals[a] == counter) return true;
    for (std::uint32_t b = before_first_[counter]; b < before_first_[counter + 1]; ++b) {
      const std::uint32_t before = before_[b];
      if (stamp_[before] == epoch_ || (down_ && last_arriver_[before] < first)) continue;
      stamp_[before] = epoch_;
      open.push_back(before);
    }
  }
  return false;
}

}  // namespace megakittens::schedule
