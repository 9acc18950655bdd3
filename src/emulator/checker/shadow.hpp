// A piece of memory that accesses are checked against, and its shadow: for each 16 bytes the last writes and the reads
// since, by byte mask.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/checker/record.hpp"

namespace megakittens::emulator {

inline constexpr std::uint32_t kCellBytes = 16;

struct ShadowEntry {
  std::uint32_t record;
  std::uint16_t bytes;  // which of the cell's bytes
  bool write;
};

/// Entries of writes are disjoint; a write removes what it covers, so that reads are those since the last write.
class ShadowCell {
 public:
  const ShadowEntry* begin() const { return more_ ? more_->data() : inline_; }
  const ShadowEntry* end() const { return begin() + size(); }
  void add_write(std::uint16_t bytes, std::uint32_t record);
  /// An earlier read by the same actor is covered by this one: who knows the later tick knows the earlier.
  void add_read(std::uint16_t bytes, std::uint32_t record, const std::vector<Record>& records);

  std::uint16_t barriers = 0;  // bytes that hold a live mbarrier

 private:
  static constexpr std::uint32_t kInline = 3;
  std::uint32_t size() const { return more_ ? static_cast<std::uint32_t>(more_->size()) : count_; }
  ShadowEntry* entries() { return more_ ? more_->data() : inline_; }
  void append(ShadowEntry entry);
  void remove(std::uint32_t i);

  std::uint16_t count_ = 0;
  ShadowEntry inline_[kInline];
  std::unique_ptr<std::vector<ShadowEntry>> more_;
};

class ShadowMemory {
 public:
  using Cell = ShadowCell;

  /// `initialised`: reads before any write are right.
  ShadowMemory(std::uint64_t bytes, bool initialised)
      : pages_((bytes + kPageBytes - 1) / kPageBytes), initialised_(initialised) {}

  Cell& cell(std::uint64_t offset) {
    std::unique_ptr<Page>& page = pages_[offset / kPageBytes];
    if (page == nullptr) page = std::make_unique<Page>();
    return page->cells[offset % kPageBytes / kCellBytes];
  }
  bool initialised() const { return initialised_; }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  struct Page {
    Cell cells[kPageBytes / kCellBytes];
  };
  std::vector<std::unique_ptr<Page>> pages_;
  bool initialised_;
};

// A piece of memory that accesses are checked against: a CTA's shared memory, a global buffer, a CTA's tensor memory.

enum class Space : std::uint8_t { kShared, kGlobal, kTensor };

struct Region {
  Space space;
  std::uint16_t cta;  // owner of shared and tensor memory
  bool read_only;     // reads leave no trace
  std::string name;
  std::uint64_t bytes;
  ShadowMemory shadow;
  std::map<std::uint64_t, std::string> names{};  // offset -> what begins there
  int tag = -1;                                  // GlobalBuffer::tag
  std::uint64_t first = 0;                       // offset at which the buffer itself begins

  /// "page 3 + 0x40 (shared memory of CTA 0)"
  std::string place(std::uint64_t offset) const;
};

}  // namespace megakittens::emulator
