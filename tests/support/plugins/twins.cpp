// A plug-in that brings two types under one name: neither may stay.
#include <megakittens/instruction_type.hpp>

namespace {

using namespace megakittens;

class Twin final : public InstructionType {
 public:
  explicit Twin(std::string operation) : operation_(std::move(operation)) {}
  std::string name() const override { return "twin"; }
  std::string operation() const override { return operation_; }
  std::string device_half() const override { return "another_version.so"; }
  std::optional<std::string> unsuited(const Call&) const override { return std::nullopt; }
  TypePlan plan(const Call&) const override { return {}; }
  std::vector<Touch> touches(const std::vector<OperandInfo>&, const std::vector<std::int32_t>&) const override {
    return {};
  }
  std::vector<std::vector<float>> reference(const Call&, const std::vector<std::vector<float>>&) const override {
    return {};
  }
  std::vector<Example> examples() const override { return {}; }

 private:
  std::string operation_;
};

}  // namespace

MEGAKITTENS_PLUGIN(plugin) {
  plugin.add(std::make_shared<Twin>("twins::a"));
  plugin.add(std::make_shared<Twin>("twins::b"));
}
