// What the assembler says about its work.
#include <charconv>

#include "jit/compile.hpp"

namespace megakittens::jit {
namespace {

// wgmma serialised (C7509 to C7512, C7520, C7600), setmaxnreg dropped (C7504, C7506, C7508). The text is searched as
// well: numbers move between releases.
constexpr std::string_view kRefused[] = {"(C7504)", "(C7506)", "(C7508)", "(C7509)", "(C7510)",
                                         "(C7511)", "(C7512)", "(C7520)", "(C7600)", "Potential Performance Loss"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The number right before `unit` in "..., 12 unit, ..."; 0 if the unit is not there.
uint32_t number_before(std::string_view line, std::string_view unit) {
  const size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') begin--;
  uint32_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::string_view after(std::string_view line, std::string_view text) {
  const size_t at = line.find(text);
  return at == std::string_view::npos ? std::string_view{} : line.substr(at + text.size());
}

template <class F>
void for_each_line(std::string_view log, F f) {
  while (!log.empty()) {
    const size_t end = log.find('\n');
    f(log.substr(0, end));
    if (end == std::string_view::npos) return;
    log.remove_prefix(end + 1);
  }
}

FunctionUsage& usage_of(std::vector<FunctionUsage>& list, std::string_view name) {
  for (FunctionUsage& usage : list)
    if (usage.name == name) return usage;
  list.emplace_back().name = name;
  return list.back();
}

}  // namespace

std::vector<FunctionUsage> parse_usage(std::string_view log) {
  std::vector<FunctionUsage> list;
  std::string current;
  for_each_line(log, [&](std::string_view line) {
    if (const std::string_view entry = after(line, "Compiling entry function '"); !entry.empty()) {
      current = entry.substr(0, entry.find('\''));
      usage_of(list, current).entry = true;
    } else if (const std::string_view function = after(line, "Function properties for "); !function.empty()) {
      current = function;
      usage_of(list, current);
    } else if (!current.empty() && contains(line, " bytes spill stores")) {
      FunctionUsage& usage = usage_of(list, current);
      usage.stack_bytes = number_before(line, " bytes stack frame");
      usage.spill_store_bytes = number_before(line, " bytes spill stores");
      usage.spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (!current.empty() && contains(line, "Used ") && contains(line, " registers")) {
      FunctionUsage& usage = usage_of(list, current);
      usage.registers = number_before(line, " registers");
      usage.barriers = number_before(line, " barriers");
      usage.static_shared_bytes = number_before(line, " bytes smem");
    }
  });
  return list;
}

std::vector<std::string> refused_lines(std::string_view log) {
  std::vector<std::string> refused;
  for_each_line(log, [&](std::string_view line) {
    for (std::string_view sign : kRefused)
      if (contains(line, sign)) {
        refused.emplace_back(line);
        return;
      }
  });
  for (const FunctionUsage& usage : parse_usage(log))
    if (usage.spill_store_bytes + usage.spill_load_bytes > 0)
      refused.push_back("function '" + usage.name + "' spills registers: " + std::to_string(usage.spill_store_bytes) +
                        " bytes of spill stores, " + std::to_string(usage.spill_load_bytes) + " bytes of spill loads");
  return refused;
}

}  // namespace megakittens::jit
