// Reading JSON that may be damaged: every step knows its path, and every fault is a FormatError that names it.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "ir/graph.hpp"
#include "support/error.hpp"

namespace megakittens::ir {

using Json = nlohmann::json;

/// A place in a document. Cheap to copy; valid while the document lives.
class JsonReader {
 public:
  JsonReader(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  const Json& json() const { return *json_; }
  const std::string& path() const { return path_; }
  /// Throws FormatError: "nodes[3].op: <message>".
  [[noreturn]] void fail(const std::string& message) const;

  bool has(const char* key) const { return json_->is_object() && json_->contains(key); }
  /// A member that must exist.
  JsonReader at(const char* key) const;
  JsonReader entry(std::size_t index) const;
  std::size_t size() const;  ///< of an array
  std::vector<std::pair<std::string, JsonReader>> members() const;

  std::int64_t integer() const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  double number() const;  ///< also "inf", "-inf", "nan"
  bool boolean() const;
  std::string string() const;
  std::vector<std::int64_t> integers() const;
  DType dtype() const;
  Extents extents() const;  ///< of at most kMaxRank

 private:
  const Json* json_;
  std::string path_;
};

/// Parses text. Throws FormatError with the byte where it is damaged; `what` names the kind of document.
Json parse_json(const std::string& text, const std::string& what);

}  // namespace megakittens::ir
