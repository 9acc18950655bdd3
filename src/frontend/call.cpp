#include <fmt/format.h>

#include <algorithm>

#include "frontend/context.hpp"
#include "support/error.hpp"

namespace megakittens::frontend {
namespace {

[[noreturn]] void refuse(const char* name, const char* wanted) {
  throw NotResolved(fmt::format("argument '{}' is not {}", name, wanted));
}

}  // namespace

Call::Call(Context& context, int index) : context_(&context), index_(index) {}

const fx::Node& Call::node() const {
  return context_->module().nodes[static_cast<std::size_t>(index_)];
}

const std::string& Call::target() const {
  return context_->target(index_);
}

const fx::Argument* Call::find(std::size_t position, const char* name) const {
  const fx::Argument* found = nullptr;
  if (position < node().args.size())
    found = &node().args[position];
  else if (auto keyword = node().kwargs.find(name); keyword != node().kwargs.end())
    found = &keyword->second;
  return found == nullptr || found->is_none() ? nullptr : found;
}

const fx::Argument& Call::at(std::size_t position, const char* name) const {
  const fx::Argument* found = find(position, name);
  if (found == nullptr) throw NotResolved(fmt::format("argument '{}' is missing", name));
  return *found;
}

bool Call::is_tensor(std::size_t position, const char* name) const {
  const fx::Argument* found = find(position, name);
  return found != nullptr && found->get<fx::NodeRef>() != nullptr;
}

int Call::node_at(std::size_t position, const char* name) const {
  const auto* ref = at(position, name).get<fx::NodeRef>();
  if (ref == nullptr) refuse(name, "a tensor");
  return ref->index;
}

TensorSymbol Call::tensor(std::size_t position, const char* name) const {
  const Results& results = context_->results(node_at(position, name));
  if (results.size() != 1 || std::holds_alternative<std::monostate>(results[0])) refuse(name, "one tensor");
  return context_->materialise(index_, results[0]);
}

std::int64_t Call::integer(std::size_t position, const char* name) const {
  const fx::Argument& argument = at(position, name);
  if (const auto* number = argument.get<std::int64_t>()) return *number;
  if (const auto* flag = argument.get<bool>()) return *flag ? 1 : 0;
  refuse(name, "an integer");
}

std::int64_t Call::integer(std::size_t position, const char* name, std::int64_t fallback) const {
  return find(position, name) == nullptr ? fallback : integer(position, name);
}

double Call::number(std::size_t position, const char* name, double fallback) const {
  const fx::Argument* argument = find(position, name);
  if (argument == nullptr) return fallback;
  if (const auto* number = argument->get<double>()) return *number;
  return static_cast<double>(integer(position, name));
}

std::string Call::text(std::size_t position, const char* name, const char* fallback) const {
  const fx::Argument* argument = find(position, name);
  if (argument == nullptr) return fallback;
  const auto* text = argument->get<std::string>();
  if (text == nullptr) refuse(name, "a text");
  return *text;
}

std::vector<std::int64_t> Call::integers(std::size_t position, const char* name) const {
  const fx::Argument& first = at(position, name);
  std::vector<std::int64_t> numbers;
  auto add = [&](const fx::Argument& item) {
    const auto* number = item.get<std::int64_t>();
    if (number == nullptr) refuse(name, "a list of integers");
    numbers.push_back(*number);
  };
  if (const auto* list = first.get<fx::List>()) {
    std::for_each(list->begin(), list->end(), add);
  } else if (position < node().args.size() && node().op == fx::OpKind::call_method) {
    for (std::size_t i = position; i < node().args.size(); ++i) add(node().args[i]);
  } else {
    add(first);
  }
  return numbers;
}

ir::DType Call::dtype_of(const fx::Argument& argument) const {
  const auto* named = argument.get<fx::Named>();
  if (named == nullptr || named->kind != fx::Named::Kind::dtype) refuse("dtype", "a dtype");
  try {
    return ir::parse_dtype(named->text);
  } catch (const FormatError&) {
    throw NotResolved(fmt::format("dtype {} is not supported", named->text));
  }
}

const fx::TensorMeta& Call::meta(std::size_t k) const {
  if (k >= node().results.size() || !node().results[k]) throw NotResolved("the result is not a tensor");
  return *node().results[k];
}

ir::DType Call::result_dtype(std::size_t k) const {
  return tensor_of(meta(k), "the result of '" + node().name + "'", node().source).dtype;
}

ir::Tensor tensor_of(const fx::TensorMeta& meta, const std::string& what, const std::string& source) {
  std::string place = source.empty() ? "" : " at " + source;
  ir::Tensor tensor{.dtype = ir::DType::f32, .shape = meta.shape, .strides = meta.strides};
  try {
    tensor.dtype = ir::parse_dtype(meta.dtype);
  } catch (const FormatError&) {
    throw UnsupportedError(fmt::format(
        "{}{} has dtype {}; supported are bfloat16, float16, float32, and int64, int32, bool as indices, masks and "
        "sources of casts: convert it with .to(...) before the call",
        what, place, meta.dtype));
  }
  if (tensor.rank() > ir::kMaxRank)
    throw UnsupportedError(fmt::format("{}{} has {} dimensions; at most {} are supported: merge some with reshape",
                                       what, place, tensor.rank(), ir::kMaxRank));
  if (meta.device.starts_with("cpu") || meta.device.starts_with("cuda")) tensor.device = ir::parse_device(meta.device);
  return tensor;
}

}  // namespace megakittens::frontend
