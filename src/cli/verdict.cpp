#include "cli/verdict.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "cli/print.hpp"
#include "ir/reference.hpp"
#include "runtime/values.hpp"
#include "support/error.hpp"

namespace megakittens::cli {
namespace {

std::vector<float> shown(const program::Port& port, const std::vector<runtime::HostBuffer>& storages) {
  return runtime::to_floats(port.type, runtime::read_port(port, storages[port.storage]));
}

Json comparison_json(const runtime::Comparison& comparison) {
  return {{"largest", comparison.largest}, {"mean", comparison.mean}, {"mismatches", comparison.mismatches}};
}

}  // namespace

bool Verdict::ok() const {
  return orderings.empty() && report.ok() &&
         std::ranges::all_of(comparisons, [](const TensorVerdict& tensor) { return tensor.ok(); });
}

void expect_same_tensors(const ir::Graph& graph, const program::Program& program) {
  if (graph.inputs.size() != program.inputs.size() || graph.outputs.size() != program.outputs.size())
    throw OptionError(fmt::format("graph '{}' has {} inputs and {} outputs, program '{}' {} and {}", graph.name,
                                  graph.inputs.size(), graph.outputs.size(), program.name, program.inputs.size(),
                                  program.outputs.size()));
  auto expect = [&](const char* kind, const ir::Value& value, const ir::View& view, const program::Port& port) {
    if (ir::name_of(value.tensor.dtype) != program::name_of(port.type) || view.sizes != port.sizes)
      throw OptionError(fmt::format("{} '{}' is {}[{}] in graph '{}', {}[{}] in the program", kind, port.name,
                                    ir::name_of(value.tensor.dtype), fmt::join(view.sizes, ", "), graph.name,
                                    program::name_of(port.type), fmt::join(port.sizes, ", ")));
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::Value& value = graph.value(graph.inputs[i]);
    expect("input", value, ir::View::whole(value.tensor), program.inputs[i]);
  }
  for (std::size_t k = 0; k < graph.outputs.size(); ++k)
    expect("output", graph.value(graph.outputs[k].value), graph.outputs[k].view, program.outputs[k]);
}

std::vector<TensorVerdict> compare_with_reference(const ir::Graph& graph, const program::Program& program,
                                                  std::vector<std::vector<float>> inputs,
                                                  const std::vector<runtime::HostBuffer>& storages,
                                                  bool may_keep_fp32) {
  const ir::ReferenceResult exact = ir::evaluate(graph, inputs, ir::ReferenceNumerics::exact);
  const ir::ReferenceResult eager = ir::evaluate(graph, std::move(inputs), ir::ReferenceNumerics::eager);
  std::vector<TensorVerdict> verdicts;
  auto add = [&](const std::string& what, program::ElementType type, const std::vector<float>& got,
                 const std::vector<float>& rounded, const std::vector<float>& unrounded) {
    const double slack = runtime::compare(type, rounded, unrounded).largest;
    verdicts.push_back(
        {what, runtime::compare(type, got, rounded), runtime::compare(type, got, unrounded, slack), may_keep_fp32});
  };
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const program::Port& port = program.outputs[k];
    add(fmt::format("output {} '{}'", k, port.name), port.type, shown(port, storages), eager.outputs[k],
        exact.outputs[k]);
  }
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const program::Port& port = program.inputs[i];
    if (!program.storages[port.storage].mutated) continue;
    const runtime::HostBuffer& storage = storages[port.storage];
    add(fmt::format("input '{}' after the run", port.name), port.type,
        runtime::to_floats(port.type, {storage.data(), storage.bytes()}), eager.inputs[i], exact.inputs[i]);
  }
  return verdicts;
}

std::string to_text(const Verdict& verdict, const program::Program& program, std::uint64_t schedule_seed,
                    std::uint64_t input_seed) {
  std::string text = summary_text(program);
  for (const std::string& sentence : verdict.orderings) text += fmt::format("  verifier: {}\n", sentence);
  if (verdict.gpu.empty())
    text += fmt::format("\nemulator, schedule seed {}, input seed {}: {}\n", schedule_seed, input_seed,
                        verdict.report.text());
  else
    text += fmt::format("\n{}, input seed {}\n", verdict.gpu, input_seed);
  for (const TensorVerdict& tensor : verdict.comparisons) {
    text += fmt::format("{}\n  against eager's numerics: {}\n", tensor.what, runtime::to_string(tensor.eager));
    text += fmt::format("  against fp32 throughout:  largest error {:.3g}, mean {:.3g}\n", tensor.exact.largest,
                        tensor.exact.mean);
  }
  text += fmt::format("time: {:.3f} s to read and schedule, {:.3f} s {}", verdict.prepare_seconds, verdict.run_seconds,
                      verdict.gpu.empty() ? "on the emulator" : "to load and run");
  text += verdict.compared ? fmt::format(", {:.3f} s for the reference\n", verdict.reference_seconds) : "\n";
  if (!verdict.gpu.empty())
    text +=
        fmt::format("a launch: {:.1f} us, of {} behind each other\n", verdict.launch_microseconds, verdict.launches);
  if (!verdict.ok()) return text + "result: WRONG\n";
  return text + (verdict.compared ? "result: equal to the reference within tolerance\n"
                                  : "result: ran without findings; not compared, a program alone has no reference "
                                    "(--graph G gives one)\n");
}

Json to_json(const Verdict& verdict, const program::Program& program, std::uint64_t schedule_seed,
             std::uint64_t input_seed) {
  Json json{{"name", program.name},         {"ok", verdict.ok()},
            {"compared", verdict.compared}, {"schedule_seed", schedule_seed},
            {"input_seed", input_seed},     {"instructions", program.instructions.size()}};
  Json findings = verdict.orderings;
  for (const emulator::Finding& finding : verdict.report.findings) findings.push_back(finding.text);
  json["findings"] = std::move(findings);
  json["report"] = verdict.report.text();
  json["device"] = verdict.gpu.empty() ? "emulator" : "cuda";
  if (!verdict.gpu.empty()) {
    json["gpu"] = verdict.gpu;
    json["launch_us"] = verdict.launch_microseconds;
  }
  Json tensors = Json::array();
  for (const TensorVerdict& tensor : verdict.comparisons)
    tensors.push_back(
        {{"tensor", tensor.what}, {"eager", comparison_json(tensor.eager)}, {"exact", comparison_json(tensor.exact)}});
  json["tensors"] = std::move(tensors);
  json["seconds"] = {
      {"prepare", verdict.prepare_seconds}, {"run", verdict.run_seconds}, {"reference", verdict.reference_seconds}};
  return json;
}

}  // namespace megakittens::cli
