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

}  // namespace megakittens::emulator
