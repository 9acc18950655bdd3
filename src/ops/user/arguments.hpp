// What the node record of a user's type holds besides operands and constants. Plain constants, host and device.
#pragma once

#include "program/node_record.hpp"

namespace megakittens::ops {

/// NodeRecord::parameters of users' types. Clocks: see TypePlan::clocks. Middle: how many dimensions each operand has
/// beyond four, four bits each. Body: how many of the inputs, the last ones, the code alone reads.
inline constexpr uint32_t kUserClocksLow = 0, kUserClocksHigh = 1, kUserMiddle = 2, kUserBody = 4, kUserParameters = 5;

/// Of a type that takes epilogues: temporaries of the code, and constants that stay with the type; the code's follow.
inline constexpr int kUserTemporaries = 1, kUserOwnConstants = 8;

/// An operand's four dimensions in the record are its first two and its last two. For those between, the reserved words
/// hold the sizes, then the strides in elements, operand after operand.
inline constexpr uint32_t kUserMiddleWords = 16;
static_assert(sizeof(program::NodeRecord::reserved) == 4 * kUserMiddleWords);

}  // namespace megakittens::ops
