#include "schedule/phases.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace megakittens::schedule {
namespace {

class Joiner {
 public:
  Joiner(const Placement& placement, Dependencies dependencies, std::uint32_t cluster)
      : placement_(placement), old_(std::move(dependencies)), cluster_(cluster) {
    out_.counters = std::move(old_.counters);
    out_.wait_first.push_back(0);
    out_.arrival_first.push_back(0);
  }

  Stream run() &&;

 private:
  std::span<const GuardedWait> waits(std::uint32_t place) const {
    return {old_.waits.data() + old_.wait_first[place], old_.wait_first[place + 1] - old_.wait_first[place]};
  }
  std::span<const std::uint32_t> arrivals(std::uint32_t place) const {
    return {old_.arrivals.data() + old_.arrival_first[place],
            old_.arrival_first[place + 1] - old_.arrival_first[place]};
  }
  std::uint32_t new_counter(std::uint32_t arrivals) {
    out_.counters.push_back({.arrivals = arrivals});
    return static_cast<std::uint32_t>(out_.counters.size()) - 1;
  }
  void push(std::uint32_t node, std::int32_t instruction, std::span<const GuardedWait> waits,
            std::span<const std::uint32_t> arrivals);
  void pad(std::uint32_t node);
  void gather_waits(std::uint32_t node);
  void emit_node(std::uint32_t node);

  const Placement& placement_;
  Dependencies old_;
  std::uint32_t cluster_;
  Stream stream_;
  Dependencies out_;
  std::map<std::uint32_t, std::vector<GuardedWait>> gathered_;  // by place: what it waits for instead
};

void Joiner::push(std::uint32_t node, std::int32_t instruction, std::span<const GuardedWait> waits,
                  std::span<const std::uint32_t> arrivals) {
  stream_.items.push_back({node, instruction});
  out_.waits.insert(out_.waits.end(), waits.begin(), waits.end());
  out_.arrivals.insert(out_.arrivals.end(), arrivals.begin(), arrivals.end());
  out_.wait_first.push_back(static_cast<std::uint32_t>(out_.waits.size()));
  out_.arrival_first.push_back(static_cast<std::uint32_t>(out_.arrivals.size()));
}

void Joiner::pad(std::uint32_t node) {
  while (stream_.items.size() % cluster_ != 0) push(node, -1, {}, {});
}

// All but one wait stay; the others become one counter that as many noops raise as are needed to wait for them.
// Instructions with the same others share it. Waits with the commonest guard go to the noops: the rest keep guards of
// their own.
void Joiner::gather_waits(std::uint32_t node) {
  gathered_.clear();
  std::map<std::vector<std::uint32_t>, std::uint32_t> shared;
  const PlacedNode& placed = placement_.nodes[node];
  for (std::uint32_t place = placed.first; place < placed.end(); ++place) {
    if (waits(place).size() <= program::kMaxWaits) continue;
    std::vector<GuardedWait> kept(waits(place).begin(), waits(place).end());
    std::map<std::uint32_t, std::size_t> uses;
    for (const GuardedWait& wait : kept) ++uses[wait.guard];
    std::stable_sort(kept.begin(), kept.end(),
                     [&](const GuardedWait& a, const GuardedWait& b) { return uses[a.guard] < uses[b.guard]; });
    GuardedWait joined;
    std::vector<std::uint32_t> rest;
    for (std::size_t w = program::kMaxWaits - 1; w < kept.size(); ++w) {
      rest.push_back(kept[w].counter);
      joined.guard |= kept[w].guard;
    }
    kept.resize(program::kMaxWaits - 1);
    std::sort(rest.begin(), rest.end());
    auto [entry, fresh] = shared.try_emplace(rest, 0);
    if (fresh) {
      const std::size_t noops = (rest.size() + program::kMaxWaits - 1) / program::kMaxWaits;
      entry->second = new_counter(static_cast<std::uint32_t>(noops));
      for (std::size_t w = 0; w < rest.size(); w += program::kMaxWaits) {
        std::vector<GuardedWait> group;
        for (std::size_t g = w; g < std::min(w + program::kMaxWaits, rest.size()); ++g)
          group.push_back({rest[g], 0xff});
        push(node, -1, group, {&entry->second, 1});
      }
    }
    joined.counter = entry->second;
    kept.push_back(joined);
    gathered_.emplace(place, std::move(kept));
  }
  pad(node);
}

// Seven arrivals stay; the eighth releases noops that raise the others.
void Joiner::emit_node(std::uint32_t node) {
  const PlacedNode& placed = placement_.nodes[node];
  struct Spread {
    std::uint32_t counter;
    std::span<const std::uint32_t> arrivals;
  };
  std::vector<Spread> spreads;
  stream_.node_first.push_back(static_cast<std::uint32_t>(stream_.items.size()));
  for (std::uint32_t place = placed.first; place < placed.end(); ++place) {
    auto gathered = gathered_.find(place);
    const std::span<const GuardedWait> held = gathered == gathered_.end() ? waits(place) : gathered->second;
    const auto local = static_cast<std::int32_t>(place - placed.first);
    if (arrivals(place).size() <= program::kMaxArrivals) {
      push(node, local, held, arrivals(place));
      continue;
    }
    std::vector<std::uint32_t> kept(arrivals(place).begin(), arrivals(place).begin() + program::kMaxArrivals - 1);
    kept.push_back(new_counter(1));
    spreads.push_back({kept.back(), arrivals(place).subspan(program::kMaxArrivals - 1)});
    push(node, local, held, kept);
  }
  for (const Spread& spread : spreads) {
    const GuardedWait wait{spread.counter, 0xff};
    for (std::size_t a = 0; a < spread.arrivals.size(); a += program::kMaxArrivals)
      push(node, -1, {&wait, 1},
           spread.arrivals.subspan(a, std::min<std::size_t>(program::kMaxArrivals, spread.arrivals.size() - a)));
  }
  pad(node);
}

Stream Joiner::run() && {
  stream_.items.reserve(placement_.end);
  out_.waits.reserve(old_.waits.size());
  out_.arrivals.reserve(old_.arrivals.size());
  for (std::uint32_t node = 0; node < placement_.nodes.size(); ++node) {
    gather_waits(node);
    emit_node(node);
  }
  stream_.dependencies = std::move(out_);
  return std::move(stream_);
}

}  // namespace

Stream join_overflows(const Placement& placement, Dependencies dependencies, std::uint32_t cluster) {
  return Joiner(placement, std::move(dependencies), cluster).run();
}

}  // namespace megakittens::schedule
