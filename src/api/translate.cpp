#include "api/translate.hpp"

#include <algorithm>

#include "runtime/values.hpp"
#include "support/error.hpp"

namespace megakittens::api {

#define MK_DTYPE(name, text, bytes, kind) static_assert(static_cast<int>(DType::name) == static_cast<int>(ir::DType::name));
#include "ir/dtypes.def"

ir::DType to_internal(DType dtype) {
  const auto internal = static_cast<ir::DType>(dtype);
  if (!ir::is_dtype(internal)) throw OptionError(fmt::format("dtype number {} is unknown", static_cast<int>(dtype)));
  return internal;
}

DType to_public(ir::DType dtype) {
  return static_cast<DType>(dtype);
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
