// Reading JSON that may be damaged or hostile: every fault is a FormatError that names its place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace megakittens {

using Json = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t max_bytes = std::size_t{1} << 30;
  std::size_t max_depth = 64;
};

/// Parses one value and nothing after it but white space. `source` names the text in messages, usually a path. Throws
/// FormatError with line and column on bad syntax, bad UTF-8, or too deep nesting; CapacityError when too long.
Json parse_json(std::string_view text, std::string_view source, const JsonLimits& limits = {});

/// A value together with its path ("$.nodes[3].shape"), for reading fields by the type they must have. Refers to the
/// value, so it must not outlive it. Each getter throws FormatError with source, path, what is expected and found.
class JsonReader {
 public:
  JsonReader(const Json& value, std::string_view source) : JsonReader(value, std::string(source), "$") {}

  /// A field that must be there, or may be missing (null counts as missing).
  JsonReader field(std::string_view name) const;
  std::optional<JsonReader> optional_field(std::string_view name) const;
  /// Refuses fields of the object that are not listed.
  void only_fields(std::initializer_list<std::string_view> names) const;
  /// The elements of an array, or the values of an object in their order; keys() gives the names in the same order.
  std::vector<JsonReader> elements() const;
  std::vector<std::string> keys() const;

  bool boolean() const;
  std::int64_t integer(std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX) const;
  double number() const;
  const std::string& text() const;
  std::vector<std::int64_t> integers(std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX) const;

  const Json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  /// For a fault that only the caller can see: "source: $.path: message".
  [[noreturn]] void fail(std::string_view message) const;

 private:
  JsonReader(const Json& value, std::string source, std::string path)
      : value_(&value), source_(std::move(source)), path_(std::move(path)) {}
  [[noreturn]] void expected(std::string_view what) const;

  const Json* value_;
  std::string source_;
  std::string path_;
};

}  // namespace megakittens
