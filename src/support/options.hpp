// Every environment variable that this project reads, in one table (options.def).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace megakittens {

enum class Knob {
#define MK_KNOB(id, name, type, fallback, doc) id,
#include "support/options.def"
#undef MK_KNOB
};

enum class KnobType { flag, integer, text };

struct KnobInfo {
  std::string_view name;  // the environment variable
  KnobType type;
  std::string_view fallback;  // the value when the variable is not set
  std::string_view doc;       // one sentence or two, in Markdown
};

/// The table, indexed by Knob.
std::span<const KnobInfo> knobs();

/// The current value: the environment is read at each call. An impossible value throws OptionError with what is
/// possible; integers are 1 or more. Asking for another type than the table's is an InternalError.
bool flag_option(Knob knob);
std::int64_t integer_option(Knob knob);
std::string text_option(Knob knob);

/// One sentence for each variable with our prefix that no table entry has, with the nearest name. `environment` is in
/// the form of environ: "NAME=value".
std::vector<std::string> unknown_knobs(std::span<const std::string> environment);
/// The same for the environment of this process.
std::vector<std::string> unknown_knobs();

/// The errors of flag_option() and integer_option() for invalid values in the environment.
std::vector<std::string> impossible_knobs();

/// The reference page in Markdown.
std::string knobs_page();

}  // namespace megakittens
