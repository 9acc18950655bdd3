// What a pointwise node's record and index words must be for the elementwise device half to follow them.
#pragma once

#include "ops/common/fit.hpp"

namespace megakittens::ops::elementwise {

Fault record_fault(const program::NodeRecord& record);
Fault instruction_fault(const program::Program& program, const program::NodeRecord& record,
                        const program::Instruction& instruction);

}  // namespace megakittens::ops::elementwise
