// What is made from the table of pointwise operations: the public header and the reference page.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/pointwise.hpp"
#include "support/golden.hpp"

namespace megakittens::ir {
namespace {

std::string result_text(ResultRule rule) {
  switch (rule) {
    case ResultRule::same:
      return "the arguments' common type";
    case ResultRule::real:
      return "floating";
    case ResultRule::truth:
      return "bool";
    case ResultRule::branch:
      return "the common type of `b` and `c`";
    case ResultRule::stated:
      return "the stated type";
  }
  return {};
}

std::string overloads_text(std::string_view aten) {
  std::string text;
  while (!aten.empty()) {
    const std::string_view name = aten.substr(0, aten.find(' '));
    aten.remove_prefix(std::min(aten.size(), name.size() + 1));
    text += fmt::format("{}`aten.{}{}`", text.empty() ? "" : ", ", name,
                        name.find('.') == std::string_view::npos ? ".default" : "");
  }
  return text.empty() ? "by way of several operators" : text;
}

TEST(Operations, the_page_lists_the_table) {
  std::string page =
      "# Pointwise operations\n\n"
      "Made from src/ir/operations.def by tests/golden/operations_test.cpp. Values are fp32; the result is rounded to "
      "its\n"
      "tensor's type. C++: `megakittens::NAME(a, ..)` or `apply(\"NAME\", {a, ..})`; graph files: `\"op\": "
      "\"NAME\"`.\n\n"
      "| name | arguments | value | type of the result | PyTorch |\n|---|---|---|---|---|\n";
  for (const PointwiseOperation& operation : pointwise_operations())
    page += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", operation.name, operation.arity, operation.expression,
                        result_text(operation.result), overloads_text(operation.aten));
  test::expect_golden("docs/reference/operations.md", page);
}

TEST(Operations, the_public_header_lists_the_table) {
  std::string header =
      "// Elementwise operations as functions. Made from src/ir/operations.def by tests/golden/operations_test.cpp.\n"
      "#pragma once\n\n#include <megakittens/builder.hpp>\n\nnamespace megakittens {\n\n"
      "// Shapes broadcast. Each throws UserError naming the shapes where they do not.\n";
  for (const PointwiseOperation& operation : pointwise_operations()) {
    if (operation.result == ResultRule::stated) continue;  // Expression::cast
    const char* parameters[] = {"", "const Expression& a", "const Expression& a, const Expression& b",
                                "const Expression& a, const Expression& b, const Expression& c"};
    const char* arguments[] = {"", "a", "a, b", "a, b, c"};
    header += fmt::format("inline Expression {}({}) {{\n  return apply(\"{}\", {{{}}});\n}}\n", operation.name,
                          parameters[operation.arity], operation.name, arguments[operation.arity]);
  }
  test::expect_golden("include/megakittens/operations.hpp", header + "\n}  // namespace megakittens\n");
}

}  // namespace
}  // namespace megakittens::ir
