// What a product's record and index words must be for the GEMM device halves to follow them.
#pragma once

#include "ops/common/fit.hpp"

namespace megakittens::ops::gemm {

Fault record_fault(const program::Program& program, const program::NodeRecord& record, std::uint16_t icode);
Fault instruction_fault(const program::Program& program, const program::NodeRecord& record,
                        const program::Instruction& instruction);

}  // namespace megakittens::ops::gemm
