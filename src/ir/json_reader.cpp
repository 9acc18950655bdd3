#include "ir/json_reader.hpp"

#include <limits>

namespace megakittens::ir {

Json parse_json(const std::string& text, const std::string& what) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("{} is not JSON: {}", what, error.what()));
  }
}

void JsonReader::fail(const std::string& message) const {
  throw FormatError(fmt::format("{}: {}", path_.empty() ? "document" : path_, message));
}

JsonReader JsonReader::at(const char* key) const {
  if (!json_->is_object()) fail(fmt::format("expected an object, found {}", json_->type_name()));
  auto found = json_->find(key);
  if (found == json_->end()) fail(fmt::format("'{}' is missing", key));
  return {*found, path_.empty() ? key : path_ + "." + key};
}

JsonReader JsonReader::entry(std::size_t index) const {
  if (index >= size()) fail(fmt::format("has {} entries, entry {} is missing", size(), index));
  return {(*json_)[index], fmt::format("{}[{}]", path_, index)};
}

std::size_t JsonReader::size() const {
  if (!json_->is_array()) fail(fmt::format("expected a list, found {}", json_->type_name()));
  return json_->size();
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  if (!json_->is_object()) fail(fmt::format("expected an object, found {}", json_->type_name()));
  std::vector<std::pair<std::string, JsonReader>> members;
  for (auto it = json_->begin(); it != json_->end(); ++it)
    members.emplace_back(it.key(), JsonReader(it.value(), path_ + "." + it.key()));
  return members;
}

std::int64_t JsonReader::integer() const {
  if (!json_->is_number_integer()) fail(fmt::format("expected an integer, found {}", json_->type_name()));
  if (json_->is_number_unsigned() &&
      json_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    fail("the integer does not fit 64 bits");
  return json_->get<std::int64_t>();
}

std::int64_t JsonReader::integer(std::int64_t low, std::int64_t high) const {
  std::int64_t value = integer();
  if (value < low || value > high) fail(fmt::format("{} is outside {}..{}", value, low, high));
  return value;
}

double JsonReader::number() const {
  if (json_->is_number()) return json_->get<double>();
  if (json_->is_string()) {
    const std::string& text = json_->get_ref<const std::string&>();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  fail(fmt::format("expected a number, found {}", json_->type_name()));
}

bool JsonReader::boolean() const {
  if (!json_->is_boolean()) fail(fmt::format("expected true or false, found {}", json_->type_name()));
  return json_->get<bool>();
}

std::string JsonReader::string() const {
  if (!json_->is_string()) fail(fmt::format("expected a string, found {}", json_->type_name()));
  return json_->get<std::string>();
}

std::vector<std::int64_t> JsonReader::integers() const {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < size(); ++i) values.push_back(entry(i).integer());
  return values;
}

DType JsonReader::dtype() const {
  try {
    return parse_dtype(string());
  } catch (const FormatError& error) {
    fail(error.what());
  }
}

Extents JsonReader::extents() const {
  if (size() > kMaxRank) fail(fmt::format("rank {} is above the limit of {}", size(), kMaxRank));
  return integers();
}

}  // namespace megakittens::ir
