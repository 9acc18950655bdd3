// megakittens check G|P: the verifier, then many interleavings on the emulator under the checker.
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "cli/check_report.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "emulator/named_faults.hpp"
#include "emulator/recording.hpp"
#include "runtime/host_run.hpp"
#include "runtime/values.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace megakittens::cli {
namespace {

constexpr std::uint64_t kMostSchedules = 100'000'000;
constexpr std::uint64_t kStepLimit = std::uint64_t{1} << 28;  // a run that takes more moves in circles
constexpr std::uint64_t kShrinkRuns = 300;
constexpr std::uint64_t kMaxRecordingBytes = std::uint64_t{1} << 30;

struct Arguments {
  std::string file;
  ScheduleArguments scheduling;
  std::string schedules = "100";
  std::string strategy = "random";
  std::string seed = "1";
  std::string input_seed = "1";
  std::string change_points = "3";
  std::string threads = "0";
  bool shadow_only = false;
  bool strict = false;
  std::vector<std::string> faults;
  std::string record;
  std::string replay;
  bool json = false;
  std::vector<const CLI::Option*> exploring;  // that a recording leaves nothing to say of
};

emulator::Strategy parse_strategy(const std::string& text) {
  if (text == "random") return emulator::Strategy::random;
  if (text == "pct") return emulator::Strategy::pct;
  throw OptionError(fmt::format("unknown strategy '{}'; known are random, pct", text));
}

struct Subject {
  Input input;  // with a program; with a graph where that was given
  std::string hash;
  emulator::StorageContents contents;
};

Subject load(const Arguments& arguments, std::uint64_t input_seed) {
  Subject subject{load_input(arguments.file), {}, {}};
  Input& input = subject.input;
  if (arguments.json) arguments.scheduling.expect_no_dump();
  const runtime::PrepareOptions options = arguments.scheduling.parse();
  if (input.graph) {
    input.graph = arguments.scheduling.bind(*input.graph);
    input.program = runtime::prepare(*input.graph, options);
  } else if (const std::string given = arguments.scheduling.given(); !given.empty()) {
    throw OptionError(fmt::format("{}: already scheduled; {} has no effect on a program", arguments.file, given));
  }
  const program::Program& program = *input.program;
  subject.hash = emulator::hash_of(program);
  const std::vector<runtime::HostBuffer> buffers =
      runtime::to_buffers(program, input.graph ? runtime::random_inputs(*input.graph, input_seed)
                                               : runtime::random_inputs(program, input_seed));
  subject.contents.resize(program.storages.size());
  for (std::size_t i = 0; i < buffers.size(); ++i)
    subject.contents[program.inputs[i].storage].assign(buffers[i].data(), buffers[i].data() + buffers[i].bytes());
  return subject;
}

/// The twins' faults of `texts`; plants those of the program.
std::vector<emulator::PlantedFault> plant_faults(const std::vector<std::string>& texts, program::Program& program) {
  std::vector<emulator::PlantedFault> twins;
  for (const std::string& text : texts) {
    const emulator::FaultChoice choice = emulator::parse_fault(text);
    twins.insert(twins.end(), choice.twins.begin(), choice.twins.end());
    for (const emulator::ProgramFault fault : choice.program)
      if (!emulator::plant(program, fault))
        throw OptionError(fmt::format("fault '{}' finds no place in program '{}'", text, program.name));
  }
  return twins;
}

/// Notes what the verifier finds; false where the program cannot be run at all.
bool verify(const program::Program& program, CheckReport& report) {
  const auto start = std::chrono::steady_clock::now();
  bool runs = true;
  for (const schedule::Finding& finding : schedule::verify(program, {.most = 20})) {
    runs = runs && finding.rule != schedule::Rule::outside && finding.rule != schedule::Rule::bounds &&
           finding.rule != schedule::Rule::fit;
    report.verifier.push_back(fmt::format("[{}] {}", schedule::name_of(finding.rule), finding.text));
  }
  report.verify_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return runs;
}

void replay(const Arguments& arguments, const emulator::Recording& recording, const Subject& subject,
            emulator::RunOptions run, CheckReport& report) {
  emulator::Rehearsal rehearsal(*subject.input.program, subject.contents);
  run.arithmetic = recording.arithmetic;
  run.strict = recording.strict;
  run.interleaving = {.replay = &recording.moves};
  report.exploration = emulator::explore_once(*subject.input.program, rehearsal, run);
  report.replayed = true;
  report.note = fmt::format("replayed {} moves of {}; recorded was '{}'\n", recording.moves.size(), arguments.replay,
                            recording.finding);
}

/// Of the first kind of finding: its first schedule, made small.
void record(const Arguments& arguments, const Subject& subject, emulator::RunOptions run, std::uint64_t input_seed,
            CheckReport& report) {
  const emulator::Found& first = report.exploration.found.front();
  if (first.name == "results") throw OptionError("--record: results that differ show in no single schedule");
  emulator::Rehearsal rehearsal(*subject.input.program, subject.contents);
  run.seed = first.seed;
  run.interleaving.expected_steps = report.exploration.expected_steps;
  const emulator::Interleaving moves = emulator::record(rehearsal, run);
  const emulator::Shrunk small = emulator::shrink(rehearsal, run, moves, first.name, kShrinkRuns);
  write_file(arguments.record, emulator::to_json({.program = subject.input.program->name,
                                                  .program_hash = subject.hash,
                                                  .finding = first.name,
                                                  .faults = arguments.faults,
                                                  .seed = first.seed,
                                                  .input_seed = input_seed,
                                                  .arithmetic = run.arithmetic,
                                                  .strict = run.strict,
                                                  .moves = small.moves}));
  report.note = fmt::format("recorded in {}: '{}' with seed {}, {} moves of {} left after {} replays\n",
                            arguments.record, first.name, first.seed, small.moves.size(), moves.size(), small.runs);
}

int run(Arguments arguments) {
  emulator::ExploreOptions options;
  options.schedules = parse_number("--schedules", arguments.schedules, 1, kMostSchedules);
  options.first_seed = parse_number("--seed", arguments.seed, 0, UINT64_MAX - kMostSchedules);
  options.threads = static_cast<unsigned>(parse_number("--threads", arguments.threads, 0, 256));
  options.run.interleaving.strategy = parse_strategy(arguments.strategy);
  options.run.interleaving.change_points =
      static_cast<std::uint32_t>(parse_number("--change-points", arguments.change_points, 0, 1000));
  options.run.interleaving.expected_steps = 0;
  options.run.arithmetic = !arguments.shadow_only;
  options.run.strict = arguments.strict;
  options.run.step_limit = kStepLimit;
  std::uint64_t input_seed = parse_number("--input-seed", arguments.input_seed, 0, UINT64_MAX);
  emulator::Recording recording;
  if (!arguments.replay.empty()) {
    if (!arguments.faults.empty())
      throw OptionError("--fault has no effect on --replay: the recording names its faults");
    if (!arguments.record.empty())
      throw OptionError("--record has no effect on --replay: the schedule is recorded already");
    for (const CLI::Option* option : arguments.exploring)
      if (option->count() > 0)
        throw OptionError(fmt::format(
            "{} has no effect on --replay: the recording is one schedule with its own settings", option->get_name()));
    recording = emulator::recording_from_json(read_file(arguments.replay, kMaxRecordingBytes), arguments.replay);
    arguments.faults = recording.faults;
    input_seed = recording.input_seed;
  }

  Progress progress;
  progress.stage("scheduling");
  Subject subject = load(arguments, input_seed);
  if (!arguments.replay.empty()) emulator::expect_fit(recording, *subject.input.program, arguments.replay);
  options.run.faults = plant_faults(arguments.faults, *subject.input.program);

  CheckReport report(*subject.input.program, options, arguments.faults);
  progress.stage("verifying");
  report.ran = verify(*subject.input.program, report);
  if (report.ran) {
    progress.pause();
    options.progress = [&](std::uint64_t done, std::size_t kinds) {
      progress.count("schedules", done, options.schedules, kinds == 0 ? "" : fmt::format(", {} findings", kinds));
    };
    const auto start = std::chrono::steady_clock::now();
    if (arguments.replay.empty())
      report.exploration = emulator::explore(*subject.input.program, subject.contents, options);
    else
      replay(arguments, recording, subject, options.run, report);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!arguments.record.empty() && !report.exploration.ok()) {
      progress.stage("recording and shrinking the schedule");
      record(arguments, subject, options.run, input_seed, report);
    }
  }
  progress.pause();
  if (arguments.json)
    print_json(to_json(report).dump(2) + "\n");
  else
    print(to_text(report));
  return report.ok() ? kSuccess : kWrongResult;
}

}  // namespace

Command add_check(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser =
      app.add_subcommand("check", "Prove a program's orderings: verifier, and many schedules on the emulator.");
  parser->add_option("G|P", arguments->file, "graph file, or program file")->required()->type_name("FILE");
  auto add = [&](const char* name, std::string& text, const char* type, const char* help) {
    return parser->add_option(name, text, help)->type_name(type);
  };
  auto exploring = [&](const CLI::Option* option) { arguments->exploring.push_back(option); };
  exploring(add("--schedules", arguments->schedules, "N", "how many schedules to run; 100 unless given"));
  exploring(add("--strategy", arguments->strategy, "pct|random", "how schedules are chosen; random unless given"));
  exploring(add("--seed", arguments->seed, "S", "of the first schedule; the next ones follow; 1 unless given"));
  exploring(
      add("--change-points", arguments->change_points, "N", "with pct: how often a warp is put last; 3 unless given"));
  exploring(add("--input-seed", arguments->input_seed, "N", "random inputs; 1 unless given"));
  exploring(add("--threads", arguments->threads, "N", "schedules at a time; as many as processors unless given"));
  exploring(parser->add_flag("--shadow-only", arguments->shadow_only, "leave out the products' arithmetic"));
  exploring(parser->add_flag("--strict", arguments->strict, "want the fences that production omits (rows 2 and 6)"));
  parser
      ->add_option("--fault", arguments->faults,
                   "plant a fault, by name or POINT[:role=..,object=..,cta=..,warp=..,nth=..]")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add("--record", arguments->record, "FILE", "write the first failing schedule here, made small");
  add("--replay", arguments->replay, "FILE", "run a recorded schedule instead");
  parser->add_flag("--json", arguments->json, "print the result as one JSON object");
  arguments->scheduling.add_to(*parser);
  add_plugin_option(*parser);
  return {parser, [arguments] { return run(*arguments); }};
}

}  // namespace megakittens::cli
