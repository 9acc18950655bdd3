#include "ir/dtype.hpp"

#include <array>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  int size;
};
constexpr std::array<Entry, 6> kEntries{{{DType::bf16, "bf16", 2},
                                         {DType::f16, "f16", 2},
                                         {DType::f32, "f32", 4},
                                         {DType::i64, "i64", 8},
                                         {DType::i32, "i32", 4},
                                         {DType::boolean, "bool", 1}}};

const Entry& entry_of(DType dtype) {
  auto index = static_cast<std::size_t>(dtype);
  MK_CHECK(index < kEntries.size(), "dtype {} is not in the table of {}", index, kEntries.size());
  return kEntries[index];
}

}  // namespace

int size_of(DType dtype) {
  return entry_of(dtype).size;
}

std::string_view name_of(DType dtype) {
  return entry_of(dtype).name;
}

DType parse_dtype(std::string_view text) {
  for (const Entry& entry : kEntries)
    if (entry.name == text) return entry.dtype;
  throw FormatError(fmt::format("unknown dtype '{}'; known are bf16, f16, f32, i64, i32, bool", text));
}

bool is_floating(DType dtype) {
  return dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::f32;
}

}  // namespace megakittens::ir
