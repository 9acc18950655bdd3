#include "ir/dtype.hpp"

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

struct Entry {
  std::string_view name;
  int size;
  DTypeKind kind;
};
constexpr Entry kEntries[] = {
#define MK_DTYPE(name, text, bytes, kind) {text, bytes, DTypeKind::kind},
#include "ir/dtypes.def"
};

const Entry& entry_of(DType dtype) {
  MK_CHECK(is_dtype(dtype), "dtype {} is not in the table of {}", static_cast<int>(dtype), std::size(kEntries));
  return kEntries[static_cast<std::size_t>(dtype)];
}

}  // namespace

bool is_dtype(DType dtype) {
  return static_cast<std::size_t>(dtype) < std::size(kEntries);
}

int size_of(DType dtype) {
  return entry_of(dtype).size;
}

std::string_view name_of(DType dtype) {
  return entry_of(dtype).name;
}

DTypeKind kind_of(DType dtype) {
  return entry_of(dtype).kind;
}

DType parse_dtype(std::string_view text) {
  std::string known;
  for (const Entry& entry : kEntries) {
    if (entry.name == text) return static_cast<DType>(&entry - kEntries);
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw FormatError(fmt::format("unknown dtype '{}'; known are {}", text, known));
}

}  // namespace megakittens::ir
