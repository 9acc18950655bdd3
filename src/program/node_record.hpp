// What all instructions of one node share: operands, scalars and pointwise byte code. Plain structs, host and device.
#pragma once

#include "ir/element_type.hpp"

namespace megakittens::program {

inline constexpr int kMaxOperands = 16;
inline constexpr int kMaxTileRank = 4;
inline constexpr int kMaxCode = 96;
inline constexpr int kMaxConstants = 24;
inline constexpr uint16_t kNoMap = 0xffff;
/// Elements of one dimension: roles count in 32 bits, and up to two stretches of 4096 beyond the end.
inline constexpr int64_t kMaxExtent = 0x7fffffff - 8191;

using ElementType = ir::DType;

enum OperandFlags : uint8_t {
  kOperandOutput = 1,       ///< written, not read
  kOperandVector = 2,       ///< the last tiled dimension but one has stride 0: one row serves all rows
  kOperandBulk = 4,         ///< bulk copies or vectors move it: its storage's address is a multiple of 16 bytes
  kOperandBroadcast0 = 8,   ///< one matrix serves the whole of dimension 0
  kOperandBroadcast1 = 16,  ///< and of dimension 1
};

/// One tensor as this node sees it, merged to at most four dimensions, outermost first.
struct OperandRecord {
  uint32_t storage;               ///< index into the program's storages
  uint16_t map;                   ///< index into the program's tensor maps, or kNoMap
  uint8_t type;                   ///< ElementType
  uint8_t flags;                  ///< OperandFlags
  int64_t offset;                 ///< elements from the storage's base
  int64_t strides[kMaxTileRank];  ///< elements; 0 where broadcast
  int32_t sizes[kMaxTileRank];
};
static_assert(sizeof(OperandRecord) == 64);

/// Byte code over chunks of 8 to 32 values in each lane: an accumulator machine. `acc` is the running value, t0.. are
/// temporaries. `source`: 0..15 operand, 16..19 temporary, 20..43 constant, kNoSource where the operation has none.
struct CodeWord {
  uint8_t op;      ///< CodeOp
  uint8_t source;  ///< second argument, or what `load` loads
  uint8_t third;   ///< number of a temporary (`keep`, `select`) or of an output operand (`store`); and kRoundsAfter
  uint8_t type;    ///< ElementType of `round` and `store`; of others that to which the result is known to be rounded
};
/// In CodeWord::third of an operation: its result is rounded to `type`, as by a `round` behind it.
inline constexpr uint8_t kRoundsAfter = 0x80;
static_assert(sizeof(CodeWord) == 4);

inline constexpr int kSourceTemporary = 16;
inline constexpr int kTemporaries = 4;      ///< of elementwise types
inline constexpr int kGemmTemporaries = 1;  ///< beside an accumulator tile there are registers for one
inline constexpr int kNoSource = 255;
inline constexpr int kSourceConstant = 20;

/// acc is the accumulator, s the value of `source`. The pointwise operations of ir/operations.def come first, under
/// their names: acc = op(acc), op(acc, s), or for `where` acc != 0 ? s : temporary `third`; `round` rounds to `type`.
/// Then what the machine adds.
#define MK_MACHINE_OPS(X)                                                                                           \
  X(load)                 /* acc = s */                                                                             \
  X(keep)                 /* temporary `third` = acc */                                                             \
  X(store)                /* output operand `third` = acc as `type` */                                              \
  X(reverse_sub)          /* acc = s - acc */                                                                       \
  X(reverse_div)          /* acc = s / acc */                                                                       \
  X(reverse_pow)          /* acc = pow(s, acc) */                                                                   \
  X(add_relu)             /* superinstructions: acc = relu(acc + s) */                                              \
  X(round_add_round_relu) /* bf16 eager bias and relu: acc = relu(round(round(acc) + s)), rounding to `type` */     \
  X(round_add_round)      /* acc = round(round(acc) + s) */                                                         \
  X(silu_mul)             /* acc = silu(acc) * s */                                                                 \
  X(silu_round_mul_round) /* acc = round(round(silu(acc)) * s) */

enum class CodeOp : uint8_t {
#define MK_OPERATION(name, ...) name,
#include "ir/operations.def"
  before_machine_ops = 127,  ///< the machine's own keep their numbers when the table grows
#define MK_X(name) name,
  MK_MACHINE_OPS(MK_X)
#undef MK_X
};

struct NodeRecord {
  uint16_t operand_count;  ///< outputs come last
  uint16_t output_count;
  uint16_t code_count;
  uint16_t constant_count;
  uint32_t number;                ///< position in the program's node list, for reports
  uint32_t flags;                 ///< meaning: the instruction type's
  int32_t extents[kMaxTileRank];  ///< the node's index space, outermost first
  int32_t parameters[8];          ///< meaning: the instruction type's (for GEMM: K, batch, ...)
  OperandRecord operands[kMaxOperands];
  float constants[kMaxConstants];
  CodeWord code[kMaxCode];
  uint32_t reserved[16];
};
static_assert(sizeof(NodeRecord) == 64 + 1024 + 96 + 384 + 64);
static_assert(sizeof(NodeRecord) % 32 == 0);

/// An output, which a launch that fails fills: see LaunchParameters::outputs.
struct OutputRecord {
  uint32_t storage;  ///< its number on the device
  uint32_t reserved;
  uint64_t bytes;  ///< of its storage, a multiple of 128; its address is one of 16
};
static_assert(sizeof(OutputRecord) == 16);

}  // namespace megakittens::program
