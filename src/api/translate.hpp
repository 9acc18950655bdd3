// Between the public types and ours.
#pragma once

#include "ir/builder.hpp"
#include "megakittens/megakittens.hpp"
#include "program/program.hpp"
#include "runtime/host_buffer.hpp"

namespace megakittens {

struct Graph::State {
  ir::Graph graph;
};

struct Program::State {
  program::Program program;
};

namespace api {

ir::DType to_internal(DType dtype);
DType to_public(ir::DType dtype);

TensorInfo info_of(const program::Port& port);

/// Throws UserError where number, dtypes or shapes of `given` are not those of `wanted`. `taker` begins the message:
/// "program 'mlp'".
void expect_tensors(const std::string& taker, const std::vector<TensorInfo>& wanted,
                    const std::vector<HostTensor>& given);

/// What the port shows of its storage.
HostTensor tensor_of(const program::Port& port, const runtime::HostBuffer& storage);

}  // namespace api
}  // namespace megakittens
