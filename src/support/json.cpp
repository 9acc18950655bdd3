#include "support/json.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace megakittens {

namespace {

/// "line 3, column 7" of a byte offset, counting from one.
std::string place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_end = before.rfind('\n');
  const std::size_t column = line_end == std::string_view::npos ? before.size() + 1 : before.size() - line_end;
  return fmt::format("line {}, column {}", line, column);
}

/// Refuses deep nesting before the parser builds anything: containers are counted outside of strings.
void check_depth(std::string_view text, std::string_view source, std::size_t max_depth) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    if (in_string) {
      if (character == '\\') {
        ++i;
      } else if (character == '"') {
        in_string = false;
      }
    } else if (character == '"') {
      in_string = true;
    } else if (character == '[' || character == '{') {
      if (++depth > max_depth) {
        throw FormatError(fmt::format("{}: {}: nested more than {} deep", source, place_of(text, i), max_depth));
      }
    } else if ((character == ']' || character == '}') && depth > 0) {
      --depth;
    }
  }
}

/// The value as it stands in the file, cut when long.
std::string excerpt(const Json& value) {
  constexpr std::size_t kLongest = 40;
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  if (value.is_object()) return fmt::format("an object with {} fields", value.size());
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

}  // namespace

Json parse_json(std::string_view text, std::string_view source, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    throw CapacityError(
        fmt::format("{}: {} bytes of JSON, more than the {} allowed", source, text.size(), limits.max_bytes));
  }
  check_depth(text, source, limits.max_depth);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& fault) {
    // Its message gives the place in its own way first; the reason starts at these words.
    const std::string_view what = fault.what();
    const std::size_t start = what.find("syntax error");
    const std::string_view reason = start == std::string_view::npos ? what : what.substr(start);
    throw FormatError(
        fmt::format("{}: {}: not JSON: {}", source, place_of(text, fault.byte > 0 ? fault.byte - 1 : 0), reason));
  } catch (const Json::exception& fault) {
    // A number such as 1e999 that no double holds.
    throw FormatError(fmt::format("{}: not JSON: {}", source, fault.what()));
  }
}

void JsonReader::fail(std::string_view message) const {
  throw FormatError(fmt::format("{}: {}: {}", source_, path_, message));
}

void JsonReader::expected(std::string_view what) const {
  fail(fmt::format("expected {}, found {}", what, excerpt(*value_)));
}

std::optional<JsonReader> JsonReader::optional_field(std::string_view name) const {
  if (!value_->is_object()) expected("an object");
  const auto found = value_->find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonReader(*found, source_, fmt::format("{}.{}", path_, name));
}

JsonReader JsonReader::field(std::string_view name) const {
  std::optional<JsonReader> found = optional_field(name);
  if (!found) fail(fmt::format("field '{}' is missing", name));
  return *std::move(found);
}

void JsonReader::only_fields(std::initializer_list<std::string_view> names) const {
  for (const std::string& key : keys()) {
    if (std::ranges::find(names, key) == names.end()) {
      fail(fmt::format("unknown field '{}'; known ones are {}", key, fmt::join(names, ", ")));
    }
  }
}

std::vector<JsonReader> JsonReader::elements() const {
  std::vector<JsonReader> readers;
  readers.reserve(value_->size());
  if (value_->is_array()) {
    for (const Json& element : *value_) {
      readers.push_back(JsonReader(element, source_, fmt::format("{}[{}]", path_, readers.size())));
    }
  } else if (value_->is_object()) {
    for (const auto& [key, element] : value_->items()) {
      readers.push_back(JsonReader(element, source_, fmt::format("{}.{}", path_, key)));
    }
  } else {
    expected("an array or an object");
  }
  return readers;
}

std::vector<std::string> JsonReader::keys() const {
  if (!value_->is_object()) expected("an object");
  std::vector<std::string> names;
  for (const auto& [key, element] : value_->items()) names.push_back(key);
  return names;
}

bool JsonReader::boolean() const {
  if (!value_->is_boolean()) expected("true or false");
  return value_->get<bool>();
}

std::int64_t JsonReader::integer(std::int64_t least, std::int64_t most) const {
  // An unsigned number past the signed range would wrap on conversion.
  const bool too_large = value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  if (!value_->is_number_integer() || too_large) expected("an integer of 64 bits");
  const auto number = value_->get<std::int64_t>();
  if (number < least || number > most) expected(fmt::format("an integer from {} to {}", least, most));
  return number;
}

double JsonReader::number() const {
  if (!value_->is_number()) expected("a number");
  return value_->get<double>();
}

const std::string& JsonReader::text() const {
  if (!value_->is_string()) expected("a string");
  return value_->get_ref<const std::string&>();
}

std::vector<std::int64_t> JsonReader::integers(std::int64_t least, std::int64_t most) const {
  if (!value_->is_array()) expected("an array of integers");
  std::vector<std::int64_t> numbers;
  numbers.reserve(value_->size());
  for (const JsonReader& element : elements()) numbers.push_back(element.integer(least, most));
  return numbers;
}

}  // namespace megakittens
