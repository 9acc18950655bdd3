#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "program/program.hpp"
#include "support/error.hpp"

namespace megakittens::program {
namespace {

constexpr std::string_view kArchitectures[] = {
#define MK_X(name, ...) #name,
    MK_TARGETS(MK_X)
#undef MK_X
};
constexpr std::array<std::string_view, 2> kQueueModes = {"per-sm", "global"};
constexpr std::array<std::string_view, 3> kStorageKinds = {"input", "output", "workspace"};
constexpr std::array<std::string_view, 2> kCounterScopes = {"gpu", "system"};
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
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  throw OptionError(fmt::format("unknown {} '{}'; known are {}", what, text, fmt::join(names, ", ")));
}

}  // namespace

#define MK_NAMED(Enum, parse, what, names)                                            \
  std::string_view name_of(Enum value) { return name_in(names, value, what); }        \
  Enum parse(std::string_view text) { return parse_in<Enum>(names, text, what); }
MK_NAMED(Architecture, parse_architecture, "target", kArchitectures)
MK_NAMED(QueueMode, parse_queue_mode, "queue mode", kQueueModes)
MK_NAMED(StorageKind, parse_storage_kind, "storage kind", kStorageKinds)
MK_NAMED(CounterScope, parse_counter_scope, "counter scope", kCounterScopes)
MK_NAMED(Swizzle, parse_swizzle, "swizzle", kSwizzles)
#undef MK_NAMED

std::string target_names(std::string_view separator) {
  return fmt::format("{}", fmt::join(kArchitectures, separator));
}
std::string usual_sms_text() {
  std::string text;
  for (const Target& target : kTargets)
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", target.sms, target.name);
  return text;
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
