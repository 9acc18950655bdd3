// A user's instruction type for tests: y = 2 x on the rows of a matrix, whose parts a test may replace.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "ir/graph.hpp"
#include "megakittens/instruction_type.hpp"
#include "support/environment.hpp"

namespace megakittens::test {

/// Device half of Doubled; its last step stores `value`, an expression of the loaded `x`.
std::string doubled_device_half(const std::string& value = "x * 2.0f", const std::string& before = "begin(c);");

class Doubled : public InstructionType {
 public:
  std::string type_name = "doubled";
  std::string operation_name = "megakittens_test::doubled";
  std::filesystem::path path;
  std::function<TypePlan(TypePlan)> change_plan;
  std::function<std::vector<Touch>(std::vector<Touch>)> change_touches;
  std::function<std::optional<std::string>(const Call&)> refuse;
  std::vector<Example> calls;

  std::string name() const override { return type_name; }
  std::string operation() const override { return operation_name; }
  std::string device_half() const override { return path.string(); }
  std::optional<std::string> unsuited(const Call& call) const override;
  TypePlan plan(const Call& call) const override;
  std::vector<Touch> touches(const std::vector<OperandInfo>& operands,
                             const std::vector<std::int32_t>& index) const override;
  std::vector<std::vector<float>> reference(const Call& call,
                                            const std::vector<std::vector<float>>& inputs) const override;
  std::vector<Example> examples() const override { return calls; }
};

/// A folder with Doubled's device half and an empty cache of its own; types that are registered meanwhile are taken
/// away at the end.
class UserTypes {
 public:
  UserTypes();
  ~UserTypes();
  UserTypes(const UserTypes&) = delete;
  UserTypes& operator=(const UserTypes&) = delete;

  /// A new one, with the device half that lies in the folder and one example of f32[5, 40].
  std::shared_ptr<Doubled> doubled() const;
  void write_device_half(const std::string& text) const;

  std::filesystem::path folder;

 private:
  ScopedVariable cache_;
};

/// y = doubled(x) of a dense f32[rows, columns], or a bf16 one.
ir::Graph doubled_graph(std::int64_t rows = 5, std::int64_t columns = 40);

/// The text of the error that `f` throws, and "nothing was thrown".
template <class E, class F>
std::string text_of_error(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace megakittens::test
