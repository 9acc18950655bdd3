// What a user's instruction type says on the host, and how a plug-in brings it. This header stands alone: a plug-in
// needs no library of ours to link with. docs/guides/instruction-types.md goes through an example.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <megakittens/tensor.hpp>

namespace megakittens {

/// Of this header. A plug-in that was compiled with another number is refused.
inline constexpr std::uint32_t kPluginVersion = 1;

/// Four dimensions, outermost first; a tensor with fewer has ones in front.
using Extents4 = std::array<std::int64_t, 4>;

/// A tensor as an instruction type sees it. Strides are in elements, 0 where a dimension has size 1 or is broadcast.
struct OperandInfo {
  DType dtype = DType::bf16;
  Extents4 sizes{};
  Extents4 strides{};
  bool output = false;
  /// Dimensions that the call's tensor has: the last of the four. 4 where only a program is known.
  int rank = 4;
};

/// What a call passes besides tensors.
using Argument = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
/// By name where the call names it, else by position ("2").
using Arguments = std::map<std::string, Argument>;

/// One call of the operation, to be cut into instructions.
struct Call {
  std::vector<OperandInfo> operands;  ///< inputs in the order of the call, then outputs
  Arguments arguments;
  std::uint32_t sms = 0;  ///< multiprocessors that share the work

  /// A number that the call passes as `name` or at `position`; `otherwise` where it passes none.
  double number(const std::string& name, int position, double otherwise) const {
    for (const std::string& key : {name, std::to_string(position)})
      if (auto found = arguments.find(key); found != arguments.end()) {
        if (const auto* real = std::get_if<double>(&found->second)) return *real;
        if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
        if (const auto* flag = std::get_if<bool>(&found->second)) return *flag ? 1 : 0;
      }
    return otherwise;
  }
};

/// How a call becomes instructions.
struct TypePlan {
  /// One list of index words an instruction: 2 to 16. Words 0 and 1 are the position in the first two dimensions, where
  /// each operand's window begins; the others mean what the type wants, and the device half reads them by c.index(i).
  std::vector<std::vector<std::int32_t>> tiles;
  /// At most 24 numbers that all instructions share; the device half reads them by c.code_constant(i).
  std::vector<float> constants;
  /// Of the whole call, for reports.
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
};

/// The box of one operand that an instruction touches: half-open ranges.
struct Touch {
  int operand = 0;
  Extents4 lo{};
  Extents4 hi{};
};

/// A call that the type claims to take: what its generated test runs.
struct Example {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  Arguments arguments;
};

/// The host half of a type. Methods are called from any thread, one at a time for each program that is made.
class InstructionType {
 public:
  virtual ~InstructionType() = default;
  /// Lower case, digits and underscores: "rms_norm". Its device half is the struct RmsNorm of namespace
  /// megakittens::user.
  virtual std::string name() const = 0;
  /// The operation it takes, as PyTorch calls it: "mylib::rms_norm".
  virtual std::string operation() const = 0;
  /// Path of the file with the device half (.cuh), absolute or relative to the plug-in.
  virtual std::string device_half() const = 0;
  /// Empty where it takes the call, else why not, in words a user understands.
  virtual std::optional<std::string> unsuited(const Call& call) const = 0;
  /// Needs unsuited() to be empty.
  virtual TypePlan plan(const Call& call) const = 0;
  /// What the instruction with these index words reads and writes. Orderings are derived from it, and the checker
  /// holds the device half to it. A function of its arguments alone: programs from files have nothing else.
  virtual std::vector<Touch> touches(const std::vector<OperandInfo>& operands,
                                     const std::vector<std::int32_t>& index) const = 0;
  /// The outputs of the call, dense in row-major order, given its inputs so. All values are floats.
  virtual std::vector<std::vector<float>> reference(const Call& call,
                                                    const std::vector<std::vector<float>>& inputs) const = 0;
  virtual std::vector<Example> examples() const = 0;
};

/// Where a plug-in puts its types.
class Plugin {
 public:
  virtual void add(std::shared_ptr<InstructionType> type) = 0;

 protected:
  ~Plugin() = default;
};

}  // namespace megakittens

/// Begins the one function of a plug-in: MEGAKITTENS_PLUGIN(plugin) { plugin.add(std::make_shared<RmsNorm>()); }
// NOLINTBEGIN(bugprone-macro-parentheses): a parameter's name
#define MEGAKITTENS_PLUGIN(plugin)                                                                \
  extern "C" __attribute__((visibility("default"))) std::uint32_t megakittens_plugin_version() { \
    return megakittens::kPluginVersion;                                                           \
  }                                                                                               \
  extern "C" __attribute__((visibility("default"))) void megakittens_plugin(megakittens::Plugin& plugin)
// NOLINTEND(bugprone-macro-parentheses)
