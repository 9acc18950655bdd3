#include <algorithm>
#include <array>
#include <span>

#include "program/program.hpp"
#include "support/error.hpp"

namespace megakittens::program {
namespace {

constexpr std::array<std::string_view, 2> kArchitectures = {"sm_90a", "sm_100a"};
constexpr std::array<std::string_view, 2> kQueueModes = {"per-sm", "global"};
constexpr std::array<std::string_view, 3> kStorageKinds = {"input", "output", "workspace"};
constexpr std::array<std::string_view, 4> kSwizzles = {"none", "b32", "b64", "b128"};
struct CodeOpEntry {
  CodeOp op;
  std::string_view name;
  bool has_source;
};
constexpr CodeOpEntry kCodeOps[] = {
#define MK_OPERATION(name, arity, ...) {CodeOp::name, #name, (arity) >= 2},
#include "ir/operations.def"
#define MK_X(name) {CodeOp::name, #name, CodeOp::name != CodeOp::keep && CodeOp::name != CodeOp::store},
    MK_MACHINE_OPS(MK_X)
#undef MK_X
};

const CodeOpEntry& entry_of(CodeOp op) {
  const auto* found = std::ranges::find(kCodeOps, op, &CodeOpEntry::op);
  MK_CHECK(found != std::end(kCodeOps), "code operation number {}", static_cast<int>(op));
  return *found;
}

template <typename Enum>
std::string_view name_in(std::span<const std::string_view> names, Enum value, const char* what) {
  auto i = static_cast<std::size_t>(value);
  MK_CHECK(i < names.size(), "{} number {} of {}", what, i, names.size());
  return names[i];
}

template <typename Enum>
Enum parse_in(std::span<const std::string_view> names, std::string_view text, const char* what) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
    known += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw OptionError(fmt::format("unknown {} '{}'; known are {}", what, text, known));
}

}  // namespace

std::string_view name_of(Architecture architecture) {
  return name_in(kArchitectures, architecture, "architecture");
}
Architecture parse_architecture(std::string_view text) {
  return parse_in<Architecture>(kArchitectures, text, "architecture");
}
std::string_view name_of(QueueMode mode) {
  return name_in(kQueueModes, mode, "queue mode");
}
QueueMode parse_queue_mode(std::string_view text) {
  return parse_in<QueueMode>(kQueueModes, text, "queue mode");
}
std::string_view name_of(StorageKind kind) {
  return name_in(kStorageKinds, kind, "storage kind");
}
StorageKind parse_storage_kind(std::string_view text) {
  return parse_in<StorageKind>(kStorageKinds, text, "storage kind");
}
std::string_view name_of(Swizzle swizzle) {
  return name_in(kSwizzles, swizzle, "swizzle");
}
Swizzle parse_swizzle(std::string_view text) {
  return parse_in<Swizzle>(kSwizzles, text, "swizzle");
}
bool is_code_op(std::uint8_t number) {
  return std::ranges::any_of(kCodeOps, [&](const CodeOpEntry& entry) { return static_cast<int>(entry.op) == number; });
}
std::string_view name_of(CodeOp op) {
  return entry_of(op).name;
}
bool has_source(CodeOp op) {
  return entry_of(op).has_source;
}
CodeOp parse_code_op(std::string_view text) {
  for (const CodeOpEntry& entry : kCodeOps)
    if (entry.name == text) return entry.op;
  throw OptionError(fmt::format("unknown code operation '{}'", text));
}

}  // namespace megakittens::program
