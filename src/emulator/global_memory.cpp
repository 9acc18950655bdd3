#include "emulator/global_memory.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

/// By address, without empty ones. Buffers that are only read may overlap (tensors that share memory): they become one.
std::vector<GlobalBuffer> merged(std::vector<GlobalBuffer> buffers) {
  std::erase_if(buffers, [](const GlobalBuffer& buffer) { return buffer.bytes == 0; });
  auto begin = [](const GlobalBuffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data); };
  std::stable_sort(buffers.begin(), buffers.end(),
                   [&](const GlobalBuffer& a, const GlobalBuffer& b) { return begin(a) < begin(b); });
  std::vector<GlobalBuffer> result;
  for (const GlobalBuffer& buffer : buffers) {
    if (!result.empty()) {
      GlobalBuffer& last = result.back();
      const std::uintptr_t end = begin(last) + last.bytes;
      if (begin(buffer) < end && last.contents == Contents::kReadOnly && buffer.contents == Contents::kReadOnly) {
        last.bytes = std::max(end, begin(buffer) + buffer.bytes) - begin(last);
        last.name += "' or '" + buffer.name;
        last.tag = -1;
        continue;
      }
    }
    result.push_back(buffer);
  }
  return result;
}

}  // namespace

GlobalMemory::GlobalMemory(const std::vector<GlobalBuffer>& given) {
  for (const GlobalBuffer& buffer : merged(given)) {
    const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(buffer.data);
    // Shadow cells lie at multiples of their size, wherever the buffer begins.
    const std::uint64_t base = begin / kCellBytes * kCellBytes;
    const std::uint64_t bytes = begin + buffer.bytes - base;
    buffers_.push_back({begin, begin + buffer.bytes, base,
                        std::make_unique<Region>(Region{Space::kGlobal,
                                                        0,
                                                        buffer.contents == Contents::kReadOnly,
                                                        buffer.name,
                                                        bytes,
                                                        ShadowMemory(bytes, buffer.contents != Contents::kUnwritten),
                                                        {},
                                                        buffer.tag,
                                                        begin - base})});
  }
  std::sort(buffers_.begin(), buffers_.end(), [](const Buffer& a, const Buffer& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < buffers_.size(); i++) {
    if (buffers_[i].begin < buffers_[i - 1].end) {
      throw OptionError(
          fmt::format("buffers '{}' and '{}' overlap", buffers_[i - 1].region->name, buffers_[i].region->name));
    }
  }
}

GlobalMemory::Buffer* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes) {
  auto holds = [&](const Buffer& buffer) { return address >= buffer.begin && address + bytes <= buffer.end; };
  if (last_ < buffers_.size() && holds(buffers_[last_])) return &buffers_[last_];
  auto next = std::upper_bound(buffers_.begin(), buffers_.end(), address,
                               [](std::uint64_t a, const Buffer& buffer) { return a < buffer.begin; });
  if (next == buffers_.begin()) return nullptr;
  --next;
  if (!holds(*next)) return nullptr;
  last_ = static_cast<std::size_t>(next - buffers_.begin());
  return &*next;
}

std::string GlobalMemory::place(std::uint64_t address) {
  Buffer* buffer = find(address, 1);
  if (buffer == nullptr) return fmt::format("address {:#x}", address);
  return buffer->region->place(address - buffer->base);
}

}  // namespace megakittens::emulator
