// Translates a pointwise body into the interpreter's byte code (program/node_record.hpp).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ir/graph.hpp"
#include "program/node_record.hpp"

namespace megakittens::ops {

/// Byte code of one body.
struct Code {
  std::vector<program::CodeWord> words;
  std::vector<float> constants;
};

/// Why elements of this type are not computed, or nothing.
std::optional<std::string> unsuited_result(ir::DType dtype);

/// `first_output` is the record's operand number of output 0; `operand_base` is added to the body's operand numbers.
/// `output_types[k]` is what result k is stored as; `temporaries` is how many the machine has. Gives a sentence where
/// the body does not fit (temporaries, constants or words run out; the sentence has the numbers), or where a step
/// rounds to a type that is not computed.
std::variant<Code, std::string> compile_pointwise(const ir::PointwiseBody& body, int operand_base, int first_output,
                                                  const std::vector<ir::DType>& output_types,
                                                  int temporaries = program::kTemporaries);

/// What an elementwise node computes: the body of a pointwise node, identity for a copy. Empty for other families.
std::optional<ir::PointwiseBody> body_of(const ir::Node& node);

/// What is stored of a node that has an accumulator: its body, or the accumulator itself.
ir::PointwiseBody epilogue_of(const ir::Node& node);

/// Copies code into a record. The code fits (compile_pointwise checked).
void set_code(program::NodeRecord& record, const Code& code);

// Frequent runs of byte code become one word, so that the device dispatches once for them.

/// Replaces runs by the superinstructions of program::CodeOp, and a `round` by the bit that says so of the word before.
/// The result computes the same bits. `begins_with_sums`: the accumulator is a product's or a call's.
void combine_superinstructions(std::vector<program::CodeWord>& words, bool begins_with_sums);

}  // namespace megakittens::ops
