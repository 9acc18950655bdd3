#include "emulator/checker/releases.hpp"

namespace megakittens::emulator {

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
