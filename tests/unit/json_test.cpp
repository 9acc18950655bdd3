#include "support/json.hpp"

#include <gmock/gmock.h>

#include "support/error.hpp"

namespace megakittens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

template <class Read>
auto reading(std::string_view text, Read read) {
  return [=] {
    const Json value = parse_json(text, "model.mkg.json");
    read(JsonReader(value, "model.mkg.json"));
  };
}

TEST(Json, reads_fields_by_their_type) {
  const Json value = parse_json(R"({"a": [1, -2], "b": true, "c": "x", "d": 0.5, "e": null})", "here");
  const JsonReader reader(value, "here");
  EXPECT_THAT(reader.field("a").integers(), ElementsAre(1, -2));
  EXPECT_TRUE(reader.field("b").boolean());
  EXPECT_EQ(reader.field("c").text(), "x");
  EXPECT_EQ(reader.field("d").number(), 0.5);
  EXPECT_FALSE(reader.optional_field("e"));
  EXPECT_THAT(reader.keys(), ElementsAre("a", "b", "c", "d", "e"));
}

TEST(Json, bad_syntax_is_told_with_line_and_column) {
  EXPECT_THAT(reading("{\n  \"a\": 1,,\n}", [](const JsonReader&) {}),
              ThrowsMessage<FormatError>(StartsWith("model.mkg.json: line 2, column 10: not JSON: syntax error")));
  EXPECT_THAT(reading("", [](const JsonReader&) {}), ThrowsMessage<FormatError>(HasSubstr("line 1, column 1")));
  EXPECT_THAT(reading("[1] 2", [](const JsonReader&) {}), ThrowsMessage<FormatError>(HasSubstr("line 1, column 5")));
  EXPECT_THROW(parse_json("\"\xff\"", "here"), FormatError);
  EXPECT_THROW(parse_json("1e999", "here"), FormatError);
}

TEST(Json, a_wrong_type_is_told_with_path_expected_and_found) {
  EXPECT_THAT(reading(R"({"nodes": [{"shape": [1, "x"]}]})",
                      [](const JsonReader& reader) { reader.field("nodes").elements()[0].field("shape").integers(); }),
              ThrowsMessage<FormatError>(
                  StrEq("model.mkg.json: $.nodes[0].shape[1]: expected an integer of 64 bits, found \"x\"")));
  EXPECT_THAT(reading("[1, 2]", [](const JsonReader& reader) { reader.text(); }),
              ThrowsMessage<FormatError>(HasSubstr("$: expected a string, found an array of 2")));
}

TEST(Json, integers_keep_to_their_range) {
  const auto read = [](const JsonReader& reader) { reader.integer(0, 10); };
  EXPECT_NO_THROW(reading("10", read)());
  EXPECT_THAT(reading("11", read), ThrowsMessage<FormatError>(HasSubstr("expected an integer from 0 to 10, found 11")));
  EXPECT_THAT(reading("18446744073709551615", read), ThrowsMessage<FormatError>(HasSubstr("an integer of 64 bits")));
  EXPECT_THAT(reading("1.0", read), ThrowsMessage<FormatError>(HasSubstr("found 1.0")));
}

TEST(Json, missing_and_unknown_fields_are_named) {
  EXPECT_THAT(reading(R"({"a": 1})", [](const JsonReader& reader) { reader.field("b"); }),
              ThrowsMessage<FormatError>(HasSubstr("$: field 'b' is missing")));
  EXPECT_THAT(reading(R"({"a": 1, "z": 2})", [](const JsonReader& reader) { reader.only_fields({"a", "b"}); }),
              ThrowsMessage<FormatError>(HasSubstr("$: unknown field 'z'; known ones are a, b")));
}

TEST(Json, depth_and_size_are_limited_and_strings_do_not_count_as_depth) {
  const std::string deep(100'000, '[');
  EXPECT_THAT([&] { parse_json(deep, "here"); },
              ThrowsMessage<FormatError>(StrEq("here: line 1, column 65: nested more than 64 deep")));
  EXPECT_NO_THROW(parse_json(R"(["[[[[\"[[[["])", "here", {.max_depth = 1}));
  EXPECT_THROW(parse_json("[1,2]", "here", {.max_bytes = 4}), CapacityError);
}

}  // namespace
}  // namespace megakittens
