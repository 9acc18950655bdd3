#include "schedule/set_table.hpp"

#include <algorithm>

namespace megakittens::schedule {
namespace {

std::uint64_t hash_of(std::span<const std::uint32_t> members) {
  std::uint64_t hash = members.size();
  for (std::uint32_t member : members) {
    hash = (hash ^ member) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

std::uint32_t SetTable::intern(std::span<const std::uint32_t> members) {
  if (2 * (hashes_.size() + 1) > slots_.size()) grow();
  const std::uint64_t hash = hash_of(members);
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t set = slots_[slot] - 1;
    if (hashes_[set] == hash && std::ranges::equal(this->members(set), members)) return set;
  }
  members_.insert(members_.end(), members.begin(), members.end());
  first_.push_back(members_.size());
  hashes_.push_back(hash);
  slots_[slot] = size();
  return size() - 1;
}

void SetTable::grow() {
  slots_.assign(std::max<std::size_t>(slots_.size() * 2, 1024), 0);
  for (std::size_t set = 0; set < hashes_.size(); ++set) {
    std::size_t slot = hashes_[set] & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(set) + 1;
  }
}

}  // namespace megakittens::schedule
