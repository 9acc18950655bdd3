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
constexpr std::array<std::string_view, 6> kElementTypes = {"bf16", "f16", "f32", "i64", "i32", "bool"};
constexpr std::array<std::string_view, 3> kStorageKinds = {"input", "output", "workspace"};
constexpr std::array<std::string_view, 4> kSwizzles = {"none", "b32", "b64", "b128"};
constexpr std::array kCodeOps = {
#define MK_X(name) std::string_view(#name),
    MK_CODE_OPS(MK_X)
#undef MK_X
};

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
MK_NAMED(ElementType, parse_element_type, "element type", kElementTypes)
MK_NAMED(StorageKind, parse_storage_kind, "storage kind", kStorageKinds)
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

std::string_view name_of(CodeOp op) {
  return name_in(kCodeOps, op, "code operation");
}

std::uint32_t size_of(ElementType type) {
  constexpr std::array<std::uint32_t, 6> kSizes = {2, 2, 4, 8, 4, 1};
  auto i = static_cast<std::size_t>(type);
  MK_CHECK(i < kSizes.size(), "element type number {}", i);
  return kSizes[i];
}

}  // namespace megakittens::program
