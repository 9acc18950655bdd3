// What a user's instruction type says on the host, and how a plug-in brings it. This header stands alone: a plug-in
// needs no library of ours to link with. docs/guides/instruction-types.md goes through an example.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <megakittens/tensor.hpp>

namespace megakittens {

/// Of this header. A plug-in that was compiled with another number is refused.
inline constexpr std::uint32_t kPluginVersion = 3;

/// A number for each dimension, outermost first: four to eight. A tensor with fewer than four has ones in front.
class Extents {
 public:
  static constexpr std::size_t kMost = 8;
  Extents() = default;  ///< four zeros
  Extents(std::initializer_list<std::int64_t> values) : rank_(values.size()) {
    if (rank_ > kMost) throw std::length_error("more than eight dimensions");
    std::copy(values.begin(), values.end(), values_.begin());
  }
  static Extents of_rank(std::size_t rank) {
    if (rank > kMost) throw std::length_error("more than eight dimensions");
    Extents extents;
    extents.rank_ = rank;
    return extents;
  }
  std::size_t size() const { return rank_; }
  std::int64_t& operator[](std::size_t d) { return values_[d]; }
  std::int64_t operator[](std::size_t d) const { return values_[d]; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + rank_; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  bool operator==(const Extents&) const = default;

 private:
  std::array<std::int64_t, kMost> values_{};
  std::size_t rank_ = 4;
};

/// A tensor as an instruction type sees it. Strides are in elements, 0 where a dimension has size 1 or is broadcast.
struct OperandInfo {
  DType dtype = DType::bf16;
  Extents sizes;
  Extents strides;
  bool output = false;
  /// It has four dimensions, its base and pitches are multiples of 16 bytes, and its last stride is 1 (an output's rows
  /// too are multiples of 16 bytes), so that maps() may name it. Where only a program is known: whether it did.
  bool bulk = false;
  /// Dimensions that the call's tensor has: the last of `sizes`. Where only a program is known, all of them.
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
  /// A window has the rows and columns of the last two dimensions; where a tensor has more than four, the device half
  /// adds ops::middle_offset() for those between.
  std::vector<std::vector<std::int32_t>> tiles;
  /// At most 24 numbers that all instructions share, 8 where the type takes epilogues; the device half reads them by
  /// c.code_constant(i).
  std::vector<float> constants;
  /// Of the whole call, for reports.
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
  /// Clocks that the longest instruction may take, where that is more than milliseconds: who waits for it has that much
  /// longer before the launch is taken to be stuck. At most 2^48.
  std::uint64_t clocks = 0;
};

/// How rows of a box lie in shared memory: as they are, or with their 16-byte pieces exchanged within 32, 64 or 128
/// bytes.
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };

/// An operand that the device half moves by bulk tensor copies: its window has a tensor map of boxes of rows x columns,
/// at coordinates {column, row, position in dimension 1, in dimension 0}. At most 256 each; a box's row is a multiple
/// of 16 bytes, and no longer than what the swizzle exchanges within.
struct BulkMap {
  int operand = 0;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  Swizzle swizzle = Swizzle::none;
};

/// The box of one operand that an instruction touches: half-open ranges.
struct Touch {
  int operand = 0;
  Extents lo{};
  Extents hi{};
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
  /// Which operands have tensor maps: only such as are `bulk`, each once. A function of its arguments alone: it is
  /// asked when a call is planned, and again when a program is verified.
  virtual std::vector<BulkMap> maps(const std::vector<OperandInfo>&) const { return {}; }
  /// Whether pointwise operations that follow the call may become a part of it. Then a call has one output, whose dtype
  /// is that of the last operation, and the device half stores it by ops::store_result() alone. Operands that these
  /// operations read are shown to no method of the type.
  virtual bool takes_epilogue() const { return false; }
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
