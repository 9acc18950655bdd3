#include "emulator/checker/view.hpp"

namespace megakittens::emulator {
namespace {

bool covers(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  if (b.size() > a.size()) return false;
  for (std::size_t i = 0; i < b.size(); i++) {
    if (a[i] < b[i]) return false;
  }
  return true;
}

void join_ticks(WarpTicks& into, const WarpTicks& from) {
  for (std::size_t i = 0; i < into.size(); i++) into[i] = std::max(into[i], from[i]);
}

}  // namespace

Foreign join(const Foreign& a, const Foreign& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  if (covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  auto both = std::make_shared<std::vector<std::uint32_t>>(*a);
  if (b->size() > both->size()) both->resize(b->size(), 0);
  for (std::size_t i = 0; i < b->size(); i++) (*both)[i] = std::max((*both)[i], (*b)[i]);
  return both;
}

void View::join(const View& other) {
  local.join(other.local);
  join_ticks(async_shared, other.async_shared);
  join_ticks(async_global, other.async_global);
  foreign = emulator::join(foreign, other.foreign);
  foreign_async_global = emulator::join(foreign_async_global, other.foreign_async_global);
}

Foreign meet(const Foreign& a, const Foreign& b) {
  if (a == b) return a;
  if (a == nullptr || b == nullptr) return nullptr;
  auto both = std::make_shared<std::vector<std::uint32_t>>(std::min(a->size(), b->size()));
  for (std::size_t i = 0; i < both->size(); i++) (*both)[i] = std::min((*a)[i], (*b)[i]);
  return both;
}

void View::meet(const View& other) {
  local.meet(other.local);
  for (std::size_t i = 0; i < async_shared.size(); i++) {
    async_shared[i] = std::min(async_shared[i], other.async_shared[i]);
    async_global[i] = std::min(async_global[i], other.async_global[i]);
  }
  foreign = emulator::meet(foreign, other.foreign);
  foreign_async_global = emulator::meet(foreign_async_global, other.foreign_async_global);
}

void View::join_foreign(const Foreign& other) {
  foreign = emulator::join(foreign, other);
}

Foreign Releases::publish(std::uint16_t cta, std::uint32_t releaser, const View& view) {
  const std::uint64_t key = (std::uint64_t{cta} << 32) | releaser;
  auto [found, inserted] = numbers_.try_emplace(key, static_cast<std::uint32_t>(releasers_.size()));
  if (inserted) {
    releasers_.emplace_back();
    if (of_cta_.size() <= cta) of_cta_.resize(cta + 1u);
    of_cta_[cta].push_back(found->second);
  }
  std::vector<Snapshot>& snapshots = releasers_[found->second].snapshots;
  snapshots.push_back({view.local, view.async_shared});
  auto known = view.foreign != nullptr ? std::make_shared<std::vector<std::uint32_t>>(*view.foreign)
                                       : std::make_shared<std::vector<std::uint32_t>>();
  if (known->size() <= found->second) known->resize(found->second + 1, 0);
  (*known)[found->second] = static_cast<std::uint32_t>(snapshots.size());
  return known;
}

bool Releases::knows(const Foreign& foreign, std::uint16_t cta, std::uint32_t component, std::uint32_t tick,
                     bool fenced) const {
  if (foreign == nullptr || cta >= of_cta_.size()) return false;
  for (std::uint32_t releaser : of_cta_[cta]) {
    if (releaser >= foreign->size() || (*foreign)[releaser] == 0) continue;
    const Snapshot& snapshot = releasers_[releaser].snapshots[(*foreign)[releaser] - 1];
    const std::uint32_t known =
        fenced && component < component::kMaxWarps ? snapshot.async_shared[component] : snapshot.local.get(component);
    if (known >= tick) return true;
  }
  return false;
}

void Releases::join_into(Clock& clock, const Foreign& foreign, std::uint16_t cta) const {
  if (foreign == nullptr || cta >= of_cta_.size()) return;
  for (std::uint32_t releaser : of_cta_[cta]) {
    if (releaser >= foreign->size() || (*foreign)[releaser] == 0) continue;
    clock.join(releasers_[releaser].snapshots[(*foreign)[releaser] - 1].local);
  }
}

}  // namespace megakittens::emulator
