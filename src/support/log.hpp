// The one log of this library, with levels by component. Nothing else in the library prints.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace megakittens {

enum class LogLevel { off, error, warning, info, debug, trace };

/// Takes one message without a line end. It may be called from several threads, but only by one at a time.
using LogSink = std::function<void(LogLevel level, std::string_view component, std::string_view message)>;

/// Replaces the sink, which at first writes lines to standard error. An empty one restores that. Returns the last one.
LogSink set_log_sink(LogSink sink);

/// Sets the levels, in the form of the option MEGAKITTENS_LOG, which is read at the first use of the log; where that
/// has another form, a warning says so and warnings are logged. Throws OptionError on a text that has another form.
void set_log_levels(std::string_view levels);

/// Throws as set_log_levels() does, and changes nothing.
void expect_log_levels(std::string_view levels);

bool log_enabled(LogLevel level, std::string_view component);

/// Passes a message to the sink, whether its level is enabled or not; log() checks it first.
void write_log(LogLevel level, std::string_view component, std::string_view message);

/// log(LogLevel::info, "schedule", "{} instructions", n). `component` is the name of a folder of src/.
template <class... Args>
void log(LogLevel level, std::string_view component, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level, component)) write_log(level, component, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace megakittens
