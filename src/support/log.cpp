#include "support/log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "support/error.hpp"
#include "support/options.hpp"
#include "support/printable.hpp"

namespace megakittens {

namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"off", "error", "warning", "info", "debug", "trace"};

struct Levels {
  LogLevel common = LogLevel::warning;
  std::map<std::string, LogLevel, std::less<>> by_component;
};

LogLevel parse_level(std::string_view text, std::string_view whole) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (text == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  throw OptionError(fmt::format("log levels '{}': '{}' is no level; expected one of {}, or component=level", whole,
                                text, fmt::join(kLevelNames, ", ")));
}

Levels parse_levels(std::string_view whole) {
  Levels levels;
  for (std::string_view rest = whole; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      levels.common = parse_level(item, whole);
    } else {
      levels.by_component.insert_or_assign(std::string(item.substr(0, equals)),
                                           parse_level(item.substr(equals + 1), whole));
    }
  }
  return levels;
}

void write_to_standard_error(LogLevel level, std::string_view component, std::string_view message) {
  const std::string line = fmt::format("[megakittens {}] {}: {}\n", component,
                                       kLevelNames[static_cast<std::size_t>(level)], printable(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// A malformed value is reported; the default applies.
Levels levels_of_environment() {
  try {
    return parse_levels(text_option(Knob::log));
  } catch (const OptionError& error) {
    write_to_standard_error(
        LogLevel::warning, "support",
        fmt::format("MEGAKITTENS_LOG is set to what it cannot be, and has no effect: {}", error.what()));
    return {};
  }
}

struct Log {
  std::mutex mutex;  // guards levels and sink
  Levels levels = levels_of_environment();
  LogSink sink = write_to_standard_error;
};

Log& the_log() {
  static Log log;
  return log;
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  return std::exchange(log.sink, sink ? std::move(sink) : LogSink(write_to_standard_error));
}

void expect_log_levels(std::string_view levels) {
  parse_levels(levels);
}

void set_log_levels(std::string_view levels) {
  Levels parsed = parse_levels(levels);
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.levels = std::move(parsed);
}

bool log_enabled(LogLevel level, std::string_view component) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  const auto own = log.levels.by_component.find(component);
  return level <= (own != log.levels.by_component.end() ? own->second : log.levels.common);
}

void write_log(LogLevel level, std::string_view component, std::string_view message) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.sink(level, component, message);
}

}  // namespace megakittens
