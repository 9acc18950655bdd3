#include "api/translate.hpp"

#include <algorithm>

#include "runtime/values.hpp"
#include "support/error.hpp"

namespace megakittens::api {

static_assert(static_cast<int>(DType::bf16) == static_cast<int>(ir::DType::bf16));
static_assert(static_cast<int>(DType::boolean) == static_cast<int>(ir::DType::boolean));
static_assert(static_cast<int>(DType::boolean) == static_cast<int>(program::ElementType::boolean));

ir::DType to_internal(DType dtype) {
  if (dtype > DType::boolean) throw OptionError(fmt::format("dtype number {} is unknown", static_cast<int>(dtype)));
  return static_cast<ir::DType>(dtype);
}

DType to_public(ir::DType dtype) {
  return static_cast<DType>(dtype);
}

DType to_public(program::ElementType type) {
  return static_cast<DType>(type);
}

TensorInfo info_of(const program::Port& port) {
  return {.name = port.name, .dtype = to_public(port.type), .shape = port.sizes};
}

void expect_tensors(const std::string& taker, const std::vector<TensorInfo>& wanted,
                    const std::vector<HostTensor>& given) {
  if (wanted.size() != given.size())
    throw UserError(fmt::format("{} takes {} inputs, {} were given", taker, wanted.size(), given.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].dtype != given[i].dtype() || wanted[i].shape != given[i].shape())
      throw UserError(fmt::format("{}: input '{}' is {}{}, {}{} was given", taker, wanted[i].name,
                                  name_of(wanted[i].dtype), ir::to_string(wanted[i].shape), name_of(given[i].dtype()),
                                  ir::to_string(given[i].shape())));
}

HostTensor tensor_of(const program::Port& port, const runtime::HostBuffer& storage) {
  HostTensor tensor(to_public(port.type), port.sizes);
  std::ranges::copy(runtime::read_port(port, storage), tensor.bytes().begin());
  return tensor;
}

}  // namespace megakittens::api
