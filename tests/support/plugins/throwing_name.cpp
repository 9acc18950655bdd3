// A plug-in whose type has a name() that throws.
#include <megakittens/instruction_type.hpp>
#include <stdexcept>

namespace {

using namespace megakittens;

class Nameless final : public InstructionType {
 public:
  std::string name() const override { throw std::runtime_error("no name yet"); }
  std::string operation() const override { return "nameless::a"; }
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
};

}  // namespace

MEGAKITTENS_PLUGIN(plugin) {
  plugin.add(std::make_shared<Nameless>());
}
