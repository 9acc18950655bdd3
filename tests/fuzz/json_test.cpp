#include "support/json.hpp"

#include <gtest/gtest.h>

#include "support/mutate.hpp"

namespace megakittens {
namespace {

constexpr std::string_view kText = R"({"version": 1, "name": "grüße \u00e9\n",
 "nodes": [{"shape": [2, -3, 4.5e-3], "flag": true, "next": null}, {"shape": [], "flag": false}]})";

void read_everything(const JsonReader& reader) {
  if (reader.value().is_structured()) {
    for (const JsonReader& element : reader.elements()) read_everything(element);
  } else if (reader.value().is_string()) {
    reader.text();
  } else {
    reader.integer(-1000, 1000);
  }
}

TEST(JsonFuzz, damaged_text_is_refused_or_read_and_never_crashes) {
  test::fuzz(kText, [](const std::string& text) {
    const Json value = parse_json(text, "fuzz");
    read_everything(JsonReader(value, "fuzz"));
  });
}

}  // namespace
}  // namespace megakittens
