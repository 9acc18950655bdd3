#include "cli/options.hpp"

#include <charconv>

#include "cli/print.hpp"
#include "runtime/plugin.hpp"
#include "runtime/program_file.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace megakittens::cli {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 32;

ops::Tiling parse_tiling(const std::string& text) {
  if (text == "auto") return ops::Tiling::automatic;
  if (text == "seed") return ops::Tiling::seed;
  throw OptionError(fmt::format("unknown tiling '{}'; known are auto, seed", text));
}

}  // namespace

std::string option_names(const CLI::App& parser) {
  std::string names;
  for (const CLI::Option* option : parser.get_options())
    if (!option->get_positional()) names += (names.empty() ? "" : ", ") + option->get_name();
  return names;
}

bool parse_switch(const std::string& option, const std::string& text) {
  if (text == "on") return true;
  if (text == "off") return false;
  throw OptionError(fmt::format("{} takes on or off, not '{}'", option, text));
}

std::uint64_t parse_number(const std::string& option, const std::string& text, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw OptionError(fmt::format("{} takes a whole number from {} to {}, not '{}'", option, least, most, text));
  return value;
}

void add_plugin_option(CLI::App& parser) {
  parser
      .add_option_function<std::vector<std::string>>(
          "--plugin",
          [](const std::vector<std::string>& paths) {
            for (const std::string& path : paths) runtime::load_plugin(path);
          },
          "a library with instruction types of your own; may be given several times")
      ->type_name("PATH")
      ->allow_extra_args(false);
}

void ScheduleArguments::add_to(CLI::App& parser) {
  parser.add_option("--bind", bindings_, "the size that a symbol of the graph has; once for each symbol")
      ->type_name("SYMBOL=SIZE")
      ->allow_extra_args(false)
      ->group("Scheduling");
  auto add = [&](const char* name, std::string& text, const std::string& type, const std::string& help) {
    options_.push_back(parser.add_option(name, text, help)->type_name(type)->group("Scheduling"));
  };
  add("--target", target_, program::target_names("|"),
      fmt::format("machine to schedule for; {} unless given", program::kTargets[0].name));
  add("--sms", sms_, "N", fmt::format("multiprocessors; {} unless given", program::usual_sms_text()));
  add("--cluster", cluster_, "N", "CTAs a cluster, 1 or 2; 2 unless given");
  add("--queue", queue_, "per-sm|global", "a list for each SM, or one queue taken by ticket; per-sm unless given");
  add("--tiling", tiling_, "auto|seed", "tile shapes by cost, or the seed's fixed ones; auto unless given");
  add("--numerics", numerics_, "eager|fused",
      "round after each operation as PyTorch's eager does, or keep fp32 inside a chain; eager unless given");
  for (const passes::Pass& pass : passes::passes())
    add(("--" + std::string(pass.switch_name)).c_str(), passes_[std::string(pass.switch_name)], "on|off",
        fmt::format("pass {}: {}; on unless given", pass.name, pass.summary).c_str());
  add("--dump", dump_, "PASS", "print the graph behind this pass, or behind each where PASS is 'all'");
}

runtime::PrepareOptions ScheduleArguments::parse(const runtime::PrepareOptions& usual) const {
  runtime::PrepareOptions options = usual;
  if (!target_.empty()) options.architecture = program::parse_architecture(target_);
  if (!sms_.empty()) options.sms = static_cast<std::uint32_t>(parse_number("--sms", sms_, 1, 4096));
  if (!cluster_.empty()) options.cluster = static_cast<std::uint32_t>(parse_number("--cluster", cluster_, 1, 2));
  options.queue = program::parse_queue_mode(queue_);
  options.tiling = parse_tiling(tiling_);
  for (const auto& [name, text] : passes_)
    if (!text.empty()) passes::switch_pass(options.passes, name, parse_switch("--" + name, text));
  if (!dump_.empty()) {
    if (dump_ != "all") passes::find_pass(dump_);
    options.passes.observe = [wanted = dump_](std::string_view pass, const ir::Graph& graph, double seconds) {
      if (wanted == "all" || wanted == pass)
        print(fmt::format("behind {} ({:.3f} ms)\n{}\n", pass, seconds * 1e3, ir::to_string(graph)));
    };
  }
  options.passes.numerics = passes::parse_numerics(numerics_);
  return options;
}

ir::Graph ScheduleArguments::bind(const ir::Graph& graph) const {
  if (bindings_.empty()) return graph;
  ir::SymbolValues values;
  for (const std::string& text : bindings_) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || !ir::is_symbol_name(name))
      throw OptionError(fmt::format("--bind takes SYMBOL=SIZE, as in s0=512, not '{}'", text));
    const std::uint64_t size = parse_number("--bind " + name, text.substr(equals + 1), 1, std::uint64_t{1} << 48);
    if (!values.emplace(name, static_cast<std::int64_t>(size)).second)
      throw OptionError(fmt::format("--bind {} is given twice", name));
  }
  return ir::bind_symbols(graph, values);
}

void ScheduleArguments::expect_no_dump() const {
  if (!dump_.empty()) throw OptionError("--dump prints text and --json one object: give one of them");
}

std::string ScheduleArguments::given(bool has_graph) const {
  if (!has_graph && !bindings_.empty()) return "--bind";
  for (const CLI::Option* option : options_)
    if (option->count() > 0) return option->get_name();
  return "";
}

Input load_input(const std::string& path) {
  const std::string bytes = read_file(path, kMaxFileBytes);
  if (runtime::is_program_file(bytes)) return {.program = runtime::parse_program(bytes, path)};
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || bytes[start] != '{')
    throw FormatError(fmt::format("{}: neither a graph (.mkg.json) nor a program file", path));
  try {
    return {.graph = ir::from_json(bytes)};
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("{}: {}", path, error.what()));
  }
}

ir::Graph load_graph(const std::string& path, const std::string& command) {
  Input input = load_input(path);
  if (!input.graph) throw OptionError(fmt::format("{}: a program; {} takes a graph (.mkg.json)", path, command));
  return std::move(*input.graph);
}

}  // namespace megakittens::cli
