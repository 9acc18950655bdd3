// Between floats and the bytes of a tensor's storage.
#pragma once

#include <vector>

#include "ir/dtype.hpp"

namespace megakittens::test {

/// Values are already rounded to the type.
void write_elements(ir::DType dtype, const std::vector<float>& values, unsigned char* bytes);
std::vector<float> read_elements(ir::DType dtype, const unsigned char* bytes, std::int64_t count);

}  // namespace megakittens::test
