// The errors of the public header, their text made with fmt, and the check of an invariant.
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <string>

#include "megakittens/error.hpp"

namespace megakittens {

/// Throws InternalError with the condition's text and place. Use through MK_CHECK.
[[noreturn]] void internal_error(const char* condition, const std::string& message, std::source_location where);

}  // namespace megakittens

/// An invariant of ours, with a sentence that holds the values: MK_CHECK(a < b, "slot {} of {}", a, b).
#define MK_CHECK(condition, ...)                                                                            \
  do {                                                                                                      \
    if (!(condition)) [[unlikely]]                                                                          \
      ::megakittens::internal_error(#condition, fmt::format(__VA_ARGS__), std::source_location::current()); \
  } while (false)
