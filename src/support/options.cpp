#include "support/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "support/error.hpp"

extern char** environ;

namespace megakittens {

namespace {

constexpr std::string_view kPrefix = "MEGAKITTENS_";

constexpr auto kKnobs = std::to_array<KnobInfo>({
#define MK_KNOB(id, name, type, fallback, doc) {name, KnobType::type, fallback, doc},
#include "support/options.def"
#undef MK_KNOB
});

std::string_view type_name(KnobType type) {
  switch (type) {
    case KnobType::flag:
      return "flag";
    case KnobType::integer:
      return "integer";
    case KnobType::text:
      return "text";
  }
  return "";
}

std::string value_of(Knob knob, KnobType asked) {
  const KnobInfo& info = knobs()[static_cast<std::size_t>(knob)];
  MK_CHECK(info.type == asked, "knob {} is of type {}, not {}", info.name, type_name(info.type), type_name(asked));
  const char* set = std::getenv(std::string(info.name).c_str());
  return set != nullptr ? set : std::string(info.fallback);
}

std::string_view name_of(Knob knob) {
  return knobs()[static_cast<std::size_t>(knob)].name;
}

/// Insertions, deletions and replacements that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const KnobInfo> knobs() {
  return kKnobs;
}

bool flag_option(Knob knob) {
  const std::string value = value_of(knob, KnobType::flag);
  if (value == "1" || value == "true" || value == "on") return true;
  if (value.empty() || value == "0" || value == "false" || value == "off") return false;
  throw OptionError(fmt::format("{}={}: expected 1, true, on, 0, false or off", name_of(knob), value));
}

std::int64_t integer_option(Knob knob) {
  const std::string value = value_of(knob, KnobType::integer);
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, fault] = std::from_chars(value.data(), end, number);
  if (fault != std::errc() || stop != end || number < 1) {
    throw OptionError(fmt::format("{}={}: expected a whole number from 1 to {}", name_of(knob), value, INT64_MAX));
  }
  return number;
}

std::string text_option(Knob knob) {
  return value_of(knob, KnobType::text);
}

std::vector<std::string> unknown_knobs(std::span<const std::string> environment) {
  std::vector<std::string> sentences;
  for (const std::string& entry : environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (!name.starts_with(kPrefix)) continue;
    if (std::ranges::find(kKnobs, name, &KnobInfo::name) != kKnobs.end()) continue;
    const auto nearest =
        std::ranges::min_element(kKnobs, {}, [&](const KnobInfo& info) { return edit_distance(info.name, name); });
    const bool close = edit_distance(nearest->name, name) <= 3;
    sentences.push_back(fmt::format("{} is set, but no option has that name{}", name,
                                    close ? fmt::format("; did you mean {}?", nearest->name) : std::string()));
  }
  return sentences;
}

std::vector<std::string> unknown_knobs() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return unknown_knobs(environment);
}

std::vector<std::string> impossible_knobs() {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < kKnobs.size(); ++i) try {
      if (kKnobs[i].type == KnobType::flag) flag_option(static_cast<Knob>(i));
      if (kKnobs[i].type == KnobType::integer) integer_option(static_cast<Knob>(i));
    } catch (const OptionError& error) {
      sentences.emplace_back(error.what());
    }
  return sentences;
}

std::string knobs_page() {
  std::string page =
      "# Environment variables\n\n"
      "Every variable that megakittens reads. This page is made from `src/support/options.def`; a test compares it "
      "and\n"
      "rewrites it when `MEGAKITTENS_UPDATE_GOLDENS=1` is set.\n\n"
      "| variable | type | default | meaning |\n|---|---|---|---|\n";
  for (const KnobInfo& info : kKnobs) {
    const std::string fallback = info.fallback.empty() ? "(empty)" : fmt::format("`{}`", info.fallback);
    page += fmt::format("| `{}` | {} | {} | {} |\n", info.name, type_name(info.type), fallback, info.doc);
  }
  return page;
}

}  // namespace megakittens
