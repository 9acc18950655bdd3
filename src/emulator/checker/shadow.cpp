#include "emulator/checker/shadow.hpp"

namespace megakittens::emulator {

void ShadowCell::append(ShadowEntry entry) {
  if (more_ == nullptr && count_ < kInline) {
    inline_[count_++] = entry;
    return;
  }
  if (more_ == nullptr) more_ = std::make_unique<std::vector<ShadowEntry>>(inline_, inline_ + count_);
  more_->push_back(entry);
}

void ShadowCell::remove(std::uint32_t i) {
  entries()[i] = entries()[size() - 1];
  if (more_ != nullptr) {
    more_->pop_back();
  } else {
    count_--;
  }
}

void ShadowCell::add_write(std::uint16_t bytes, std::uint32_t record) {
  if (bytes == 0xffff) {
    more_.reset();
    count_ = 1;
    inline_[0] = {record, bytes, true};
    return;
  }
  bool merged = false;
  for (std::uint32_t i = 0; i < size();) {
    ShadowEntry& entry = entries()[i];
    if (entry.record == record && entry.write) {
      entry.bytes |= bytes;
      merged = true;
    } else {
      entry.bytes = static_cast<std::uint16_t>(entry.bytes & ~bytes);
    }
    if (entry.bytes == 0) {
      remove(i);
    } else {
      i++;
    }
  }
  if (!merged) append({record, bytes, true});
}

void ShadowCell::add_read(std::uint16_t bytes, std::uint32_t record, const std::vector<Record>& records) {
  const Record& now = records[record];
  for (std::uint32_t i = 0; i < size(); i++) {
    ShadowEntry& entry = entries()[i];
    if (entry.write) continue;
    if (entry.record == record) {
      entry.bytes |= bytes;
      return;
    }
    const Record& before = records[entry.record];
    if (before.cta == now.cta && before.component == now.component && (entry.bytes & ~bytes) == 0 &&
        before.tick <= now.tick) {
      entry = {record, bytes, false};
      return;
    }
  }
  append({record, bytes, false});
}

}  // namespace megakittens::emulator
