#include "runtime/type_test.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "device/vocabulary/build.cuh"
#include "ir/builder.hpp"
#include "ir/reference.hpp"
#include "ops/user/registry.hpp"
#include "runtime/compare.hpp"
#include "runtime/host_run.hpp"
#include "runtime/prepare.hpp"
#include "runtime/program_file.hpp"
#include "runtime/values.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

enum class Form { alone, between, strided, repeated, fused };
constexpr Form kForms[] = {Form::alone, Form::between, Form::strided, Form::repeated, Form::fused};
constexpr const char* kFormNames[] = {"alone", "between other operations", "on rows of a wider tensor",
                                      "many times on one SM", "with operations fused behind it"};
constexpr std::uint32_t kSms = 4;
/// Of a repeated form: a stage that is freed too rarely or too often shows when the ring comes round to it.
constexpr std::size_t kFewestRepeated = 2 * std::size_t{device::kRingStages} + 1;

ir::DType internal(DType dtype) {
  return static_cast<ir::DType>(dtype);
}

std::string text_of(const TensorInfo& info) {
  return fmt::format("{}[{}]", ir::name_of(internal(info.dtype)), fmt::join(info.shape, ", "));
}

std::string text_of(const Example& example) {
  std::vector<std::string> parts;
  for (const TensorInfo& info : example.inputs) parts.push_back(text_of(info));
  for (const auto& [key, value] : example.arguments)
    parts.push_back(std::visit([&, name = key](const auto& v) { return fmt::format("{}={}", name, v); }, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The example's inputs, changed by the form, as operands of the operation.
std::vector<ir::Handle> make_inputs(ir::Builder& builder, const Example& example, Form form) {
  std::vector<ir::Handle> handles;
  for (std::size_t i = 0; i < example.inputs.size(); ++i) {
    const TensorInfo& info = example.inputs[i];
    ir::Extents shape = info.shape;
    const bool wide = form == Form::strided && !shape.empty();
    if (wide) shape.back() += 3;
    ir::Handle handle =
        builder.input(info.name.empty() ? fmt::format("x{}", i) : info.name, internal(info.dtype), shape);
    if (wide) handle.view = handle.view.slice(-1, 1, 1 + info.shape.back());
    if (form == Form::between && ir::is_floating(internal(info.dtype)))
      handle = builder.pointwise(ir::PointwiseOp::mul, handle, 0.5);
    handles.push_back(std::move(handle));
  }
  return handles;
}

/// Whether it is the first target with its device sources: the emulator runs the same code for the others.
bool leads_family(const program::Target& target) {
  const auto family = [](const program::Target& other) { return &other.family; };
  return std::ranges::find(program::kTargets, &target.family, family) == &target;
}

/// `calls` of the operation, all on the same inputs.
ir::Graph make_graph(const ops::UserType& type, const Example& example, Form form, std::size_t calls = 1) {
  ir::Builder builder("test_of_" + std::string(type.name()));
  const std::vector<ir::Handle> inputs = make_inputs(builder, example, form);
  std::vector<ir::Tensor> results;
  for (const TensorInfo& info : example.outputs) results.push_back(ir::Tensor::dense(internal(info.dtype), info.shape));
  for (std::size_t call = 0; call < calls; ++call) {
    builder.at(std::string(type.name()), "");
    for (const ir::Handle& result : builder.call(type.target(), inputs, results, example.arguments)) {
      if (form == Form::fused) {
        const ir::Handle other = builder.input("fused", builder.dtype_of(result), result.view.sizes);
        builder.output(builder.relu(builder.add(builder.pointwise(ir::PointwiseOp::mul, result, 1.5), other)));
        continue;
      }
      builder.output(result);
      if (form == Form::between && ir::is_floating(builder.dtype_of(result)))
        builder.output(builder.pointwise(ir::PointwiseOp::add, result, 1.0));
    }
  }
  return builder.build();
}

/// Inputs at addresses that lie `shift` elements past aligned ones.
struct Memory {
  std::vector<HostBuffer> kept;
  std::vector<void*> inputs;
  std::vector<HostBuffer> outputs;
  std::vector<void*> output_addresses;

  Memory(const program::Program& program, const std::vector<std::vector<float>>& values, std::size_t shift) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const program::ElementType type = program.inputs[i].type;
      const std::size_t element = program::size_of(type), bytes = values[i].size() * element;
      HostBuffer& buffer = kept.emplace_back(bytes + (shift + 1) * element);
      std::byte* start = buffer.data() + shift * element;
      from_floats(type, values[i], {start, bytes});
      inputs.push_back(start);
    }
    for (const std::uint32_t s : output_storages(program)) {
      HostBuffer& buffer = outputs.emplace_back(program.storages[s].bytes);
      std::memset(buffer.data(), 0xff, buffer.bytes());
      output_addresses.push_back(buffer.data());
    }
  }
};

/// One example in one form on one architecture.
class Trial {
 public:
  Trial(const ops::UserType& type, const Example& example, std::string who, Form form,
        program::Architecture architecture)
      : who_(std::move(who)), graph_(make_graph(type, example, form)) {
    const PrepareOptions options{
        .architecture = architecture,
        .sms = form == Form::repeated ? 1 : kSms,
        .cluster = form == Form::alone ? 2u : 1u,
        .queue = form == Form::between ? program::QueueMode::global : program::QueueMode::per_sm};
    program::Program made = make_program(options);
    if (const std::size_t count = made.instructions.size();
        form == Form::repeated && count > 0 && count < kFewestRepeated) {
      graph_ = make_graph(type, example, form, (kFewestRepeated + count - 1) / count);
      made = make_program(options);
    }
    program_ = parse_program(program::to_bytes(made), who_);
    for (const schedule::Finding& finding : schedule::verify(program_))
      fail(fmt::format("the verifier finds [{}] {}", schedule::name_of(finding.rule), finding.text));
  }

  int run(int schedules) {
    HostProgram machine(program_);
    int launches = 0;
    for (const bool whole : {false, true}) {
      const std::string how = whole ? "whole numbers, misaligned" : "random numbers";
      std::vector<std::vector<float>> values = random_inputs(graph_, 1);
      if (whole)
        for (std::size_t i = 0; i < values.size(); ++i)
          for (std::size_t k = 0; k < values[i].size(); ++k)
            values[i][k] = program_.inputs[i].type == program::ElementType::boolean
                               ? values[i][k]
                               : static_cast<float>((k * 5 + i) % 8) - 3.0F;
      std::optional<Memory> first;
      for (int seed = 1; seed <= schedules; ++seed, ++launches) {
        Memory memory(program_, values, whole ? 1 : 0);
        const std::string where = fmt::format("{}, schedule {}", how, seed);
        const emulator::Report report = machine.run(memory.inputs, memory.output_addresses,
                                                    {.seed = static_cast<std::uint64_t>(seed), .check = true});
        if (!report.ok()) fail(fmt::format("{}: {}", where, emulator::explain(report.text(), program_)));
        if (!first) {
          compare_with_reference(where, memory, values);
          first.emplace(std::move(memory));
        } else if (!same(*first, memory)) {
          fail(fmt::format("{}: the results differ from those of schedule 1", where));
        }
      }
    }
    return launches;
  }

 private:
  program::Program make_program(const PrepareOptions& options) const {
    try {
      return prepare(graph_, options);
    } catch (const UnsupportedError&) {
      throw;
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: {}", who_, error.what()));
    }
  }

  [[noreturn]] void fail(const std::string& why) const { throw ExecutionError(fmt::format("{}: {}", who_, why)); }

  static bool same(const Memory& a, const Memory& b) {
    for (std::size_t k = 0; k < a.outputs.size(); ++k)
      if (std::memcmp(a.outputs[k].data(), b.outputs[k].data(), a.outputs[k].bytes()) != 0) return false;
    return true;
  }

  void compare_with_reference(const std::string& where, const Memory& memory,
                              const std::vector<std::vector<float>>& values) const {
    const ir::ReferenceResult reference = ir::evaluate(graph_, values);
    const std::vector<std::uint32_t> storages = output_storages(program_);
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const program::Port& port = program_.outputs[k];
      const auto at = std::ranges::find(storages, port.storage) - storages.begin();
      if (at == static_cast<std::ptrdiff_t>(storages.size())) continue;  // an input that was written in place
      const std::vector<float> got =
          to_floats(port.type, read_port(port, memory.outputs[static_cast<std::size_t>(at)]));
      if (const Comparison comparison = compare(port.type, got, reference.outputs[k]); !comparison.ok())
        fail(fmt::format("{}: result {} differs from the reference: {} of {} elements, {}", where, k,
                         comparison.mismatches, comparison.count, to_string(comparison)));
    }
  }

  std::string who_;
  ir::Graph graph_;
  program::Program program_;
};

}  // namespace

TypeTestReport test_type(const std::string& name, const TypeTestOptions& options) {
  const ops::UserType* type = ops::user_type_named(name);
  if (type == nullptr) throw UserError(fmt::format("no instruction type '{}' is registered", name));
  const std::vector<Example> examples = type->examples();
  if (examples.empty())
    throw UserError(fmt::format("instruction type '{}' has no examples, so nothing can be tested", name));
  std::optional<program::Architecture> only;
  if (!options.target.empty()) only = program::parse_architecture(options.target);
  TypeTestReport report;
  for (std::size_t e = 0; e < examples.size(); ++e)
    for (const program::Target& target : program::kTargets) {
      if (only ? target.architecture != *only : !leads_family(target)) continue;
      for (const Form form : kForms) {
        if (form == Form::fused && !type->takes_epilogue()) continue;
        const std::string who = fmt::format("instruction type '{}', example {} ({}), {}, {}", name, e,
                                            text_of(examples[e]), kFormNames[static_cast<int>(form)], target.name);
        std::optional<Trial> trial;
        try {
          trial.emplace(*type, examples[e], who, form, target.architecture);
        } catch (const UnsupportedError& error) {
          if (form == Form::strided) continue;
          throw UserError(fmt::format("{}: it refuses its own example: {}", who, error.what()));
        }
        report.launches += trial->run(options.schedules);
        ++report.programs;
      }
    }
  return report;
}

}  // namespace megakittens::runtime
