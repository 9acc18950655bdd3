// megakittens run G|P: on the emulator or a GPU, with random inputs, compared with the reference.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/verdict.hpp"
#include "runtime/cuda_run.hpp"
#include "runtime/host_run.hpp"
#include "runtime/values.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"

namespace megakittens::cli {
namespace {

struct Arguments {
  std::string file;
  std::string graph;
  std::string device = "emulator";
  ScheduleArguments scheduling;
  std::string gpu;
  std::string schedule_seed;
  std::string input_seed = "1";
  std::string check;
  bool json = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of a program from a file: the verifier's findings, as sentences. Throws FormatError where an instruction would leave
/// its tensors.
std::vector<std::string> findings_of(const program::Program& program) {
  std::vector<std::string> sentences;
  for (const schedule::Finding& finding : schedule::verify(program, {.most = 20})) {
    if (finding.rule == schedule::Rule::outside || finding.rule == schedule::Rule::bounds ||
        finding.rule == schedule::Rule::fit)
      throw FormatError(fmt::format("the program is not safe to run: {}", finding.text));
    sentences.push_back(fmt::format("[{}] {}", schedule::name_of(finding.rule), finding.text));
  }
  return sentences;
}

/// The program, and the graph where there is one; notes the orderings of a program from a file.
Input load(const Arguments& arguments, const runtime::PrepareOptions& usual, Verdict& verdict) {
  Input input = load_input(arguments.file);
  if (arguments.json) arguments.scheduling.expect_no_dump();
  const runtime::PrepareOptions options = arguments.scheduling.parse(usual);
  if (input.graph) {
    if (!arguments.graph.empty()) throw OptionError("--graph belongs to a program file; a graph file was given");
    input.graph = arguments.scheduling.bind(*input.graph);
    input.program = runtime::prepare(*input.graph, options);
    return input;
  }
  if (const std::string given = arguments.scheduling.given(!arguments.graph.empty()); !given.empty())
    throw OptionError(fmt::format("{}: already scheduled; {} has no effect on a program", arguments.file, given));
  if (!arguments.graph.empty()) {
    input.graph = arguments.scheduling.bind(load_graph(arguments.graph, "--graph"));
    ir::expect_bound(*input.graph);
    expect_same_tensors(*input.graph, *input.program);
  }
  verdict.orderings = findings_of(*input.program);
  return input;
}

constexpr unsigned kTimedLaunches = 100;

/// The GPU that was asked for, or none for the emulator.
runtime::CudaDevice* gpu_of(const Arguments& arguments) {
  if (arguments.device == "emulator") {
    if (!arguments.gpu.empty()) throw OptionError("--gpu belongs to --device cuda");
    return nullptr;
  }
  if (arguments.device != "cuda")
    throw OptionError(fmt::format("unknown device '{}'; known are cuda, emulator", arguments.device));
  for (const auto& [name, text] :
       {std::pair("--schedule-seed", &arguments.schedule_seed), std::pair("--check", &arguments.check)})
    if (!text->empty()) throw OptionError(fmt::format("{} belongs to --device emulator", name));
  return &runtime::CudaDevice::get(
      arguments.gpu.empty() ? 0 : static_cast<int>(parse_number("--gpu", arguments.gpu, 0, 1023)));
}

/// By storage number: inputs as the run left them, and outputs.
std::vector<runtime::HostBuffer> execute(const program::Program& program, const std::vector<std::vector<float>>& values,
                                         runtime::CudaDevice* gpu, const emulator::RunOptions& options,
                                         Verdict& verdict) {
  const auto start = std::chrono::steady_clock::now();
  if (gpu != nullptr) {
    verdict.gpu = fmt::format("GPU {} '{}'", gpu->ordinal(), gpu->name());
    runtime::CudaRun result = runtime::run_on_gpu(program, *gpu, runtime::to_buffers(program, values), kTimedLaunches);
    verdict.launch_microseconds = result.microseconds;
    verdict.launches = result.launches;
    verdict.run_seconds = seconds_since(start);
    return std::move(result.storages);
  }
  runtime::HostRun result = runtime::HostProgram(program).run(runtime::to_buffers(program, values), options);
  verdict.report = result.report;
  verdict.run_seconds = result.seconds;
  return std::move(result.storages);
}

int run(const Arguments& arguments) {
  emulator::RunOptions options;
  if (!arguments.schedule_seed.empty())
    options.seed = parse_number("--schedule-seed", arguments.schedule_seed, 0, UINT64_MAX);
  options.check = arguments.check.empty() || parse_switch("--check", arguments.check);
  const std::uint64_t input_seed = parse_number("--input-seed", arguments.input_seed, 0, UINT64_MAX);
  runtime::CudaDevice* gpu = gpu_of(arguments);

  Verdict verdict;
  Progress progress;
  progress.stage("scheduling");
  auto start = std::chrono::steady_clock::now();
  const Input input =
      load(arguments, gpu == nullptr ? runtime::PrepareOptions{} : runtime::usual_options(*gpu), verdict);
  const program::Program& program = *input.program;
  verdict.prepare_seconds = seconds_since(start);

  progress.stage("making inputs");
  std::vector<std::vector<float>> values =
      input.graph ? runtime::random_inputs(*input.graph, input_seed) : runtime::random_inputs(program, input_seed);
  progress.stage(fmt::format("{} {} instructions on {} SMs", gpu == nullptr ? "emulating" : "running",
                             program.instructions.size(), program.config.sms));
  const std::vector<runtime::HostBuffer> storages = execute(program, values, gpu, options, verdict);
  verdict.compared = input.graph && verdict.report.ok();
  if (verdict.compared) {
    progress.stage("computing the reference");
    // A program file does not say which numerics it was made for.
    const bool may_keep_fp32 =
        !arguments.graph.empty() || arguments.scheduling.parse().passes.numerics == passes::Numerics::fused;
    start = std::chrono::steady_clock::now();
    verdict.comparisons = compare_with_reference(*input.graph, program, std::move(values), storages, may_keep_fp32);
    verdict.reference_seconds = seconds_since(start);
  }
  progress.pause();
  if (arguments.json)
    print_json(to_json(verdict, program, options.seed, input_seed).dump(2) + "\n");
  else
    print(to_text(verdict, program, options.seed, input_seed));
  return verdict.ok() ? kSuccess : kWrongResult;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser =
      app.add_subcommand("run", "Run a graph or program on random inputs and compare it with the reference.");
  parser->add_option("G|P", arguments->file, "graph file, or program file")->required()->type_name("FILE");
  auto add = [&](const char* name, std::string& text, const char* type, const char* help) {
    parser->add_option(name, text, help)->type_name(type);
  };
  add("--device", arguments->device, "emulator|cuda", "where; emulator unless given");
  add("--gpu", arguments->gpu, "N", "with --device cuda: which GPU; 0 unless given");
  add("--graph", arguments->graph, "G", "with a program file: the graph it was made from, to compare with");
  add("--schedule-seed", arguments->schedule_seed, "N",
      "order in which the emulator lets things happen; 1 unless given");
  add("--input-seed", arguments->input_seed, "N", "random inputs; 1 unless given");
  add("--check", arguments->check, "on|off", "watch every access for a missing ordering, slower; on unless given");
  parser->add_flag("--json", arguments->json, "print the result as one JSON object");
  arguments->scheduling.add_to(*parser);
  add_plugin_option(*parser);
  return {parser, [arguments] { return run(*arguments); }};
}

}  // namespace megakittens::cli
