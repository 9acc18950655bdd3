// program::Program in Python: scheduling a graph, files, and running on the emulator.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <mutex>

#include "bindings.hpp"
#include "emulator/workspace.hpp"
#include "ir/graph.hpp"
#include "passes/pipeline.hpp"
#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

/// A program with the emulated machine's workspace, which one call at a time uses.
class Scheduled {
 public:
  Scheduled(ir::Graph graph, program::Program program) : graph_(std::move(graph)), program_(std::move(program)) {}

  const ir::Graph& graph() const { return graph_; }
  const program::Program& program() const { return program_; }

  void run_emulator(const std::map<std::uint32_t, std::pair<std::uintptr_t, std::size_t>>& memory, std::uint64_t seed,
                    bool check) {
    std::vector<void*> storages(program_.storages.size(), nullptr);
    for (std::size_t s = 0; s < storages.size(); ++s) {
      const program::Storage& storage = program_.storages[s];
      if (storage.kind == program::StorageKind::workspace) continue;
      auto found = memory.find(static_cast<std::uint32_t>(s));
      if (found == memory.end() || found->second.second < storage.bytes)
        throw UserError(fmt::format("storage {} ('{}') needs {} bytes; {} were given", s, storage.name, storage.bytes,
                                    found == memory.end() ? 0 : found->second.second));
      storages[s] = reinterpret_cast<void*>(found->second.first);
    }
    nb::gil_scoped_release release;
    std::scoped_lock lock(mutex_);
    if (!workspace_) workspace_ = std::make_unique<emulator::Workspace>(program_);
    emulator::RunOptions options;
    options.seed = seed;
    options.check = check;
    emulator::Report report = workspace_->launch(storages, options);
    if (report.ok()) return;
    workspace_->reset();
    throw ExecutionError("the emulated program did not run as it should:\n" + report.text());
  }

 private:
  ir::Graph graph_;  // after the passes
  program::Program program_;
  std::unique_ptr<emulator::Workspace> workspace_;
  std::mutex mutex_;
};

struct Settings {
  passes::Options passes;
  schedule::ScheduleOptions schedule;
};

Settings settings_of(const nb::dict& options) {
  Settings settings;
  program::Config& config = settings.schedule.config;
  bool sms_given = false;
  for (const auto& [key, value] : options) {
    std::string name = nb::cast<std::string>(key);
    if (name == "fusion")
      settings.passes.fusion = nb::cast<bool>(value);
    else if (name == "numerics")
      settings.passes.numerics = passes::parse_numerics(nb::cast<std::string>(value));
    else if (name == "target")
      config.architecture = program::parse_architecture(nb::cast<std::string>(value));
    else if (name == "queue")
      config.queue = program::parse_queue_mode(nb::cast<std::string>(value));
    else if (name == "sms")
      config.sms = nb::cast<std::uint32_t>(value), sms_given = true;
    else if (name == "cluster")
      config.cluster = nb::cast<std::uint32_t>(value);
    else
      throw OptionError(
          fmt::format("unknown option '{}'; known are cluster, fusion, numerics, queue, sms, target", name));
  }
  if (!sms_given && config.architecture == program::Architecture::sm_100a) config.sms = 148;
  return settings;
}

Scheduled* make(const ir::Graph& graph, const nb::dict& options) {
  Settings settings = settings_of(options);
  nb::gil_scoped_release release;
  ir::Graph ready = passes::run_pipeline(graph, settings.passes);
  program::Program program = schedule::schedule(ready, settings.schedule);
  return new Scheduled(std::move(ready), std::move(program));
}

nb::list storages(const Scheduled& scheduled) {
  static constexpr const char* kKinds[] = {"input", "output", "workspace"};
  nb::list list;
  for (const program::Storage& storage : scheduled.program().storages) {
    nb::dict item;
    item["name"] = storage.name;
    item["kind"] = kKinds[static_cast<int>(storage.kind)];
    item["bytes"] = storage.bytes;
    list.append(item);
  }
  return list;
}

nb::list ports(const std::vector<program::Port>& ports) {
  nb::list list;
  for (const program::Port& port : ports) {
    nb::dict item;
    item["name"] = port.name;
    item["storage"] = port.storage;
    item["offset"] = port.offset;
    item["sizes"] = port.sizes;
    item["strides"] = port.strides;
    item["dtype"] = std::string(ir::name_of(static_cast<ir::DType>(port.type)));
    list.append(item);
  }
  return list;
}

nb::list nodes(const Scheduled& scheduled) {
  nb::list list;
  for (const program::NodeInfo& node : scheduled.program().nodes) {
    nb::dict item;
    item["name"] = node.name;
    item["op"] = node.op;
    item["code"] = std::string(ops::icode_name(node.icode));
    item["first"] = node.first;
    item["count"] = node.count;
    item["source"] = node.source;
    list.append(item);
  }
  return list;
}

nb::dict summary(const Scheduled& scheduled) {
  const program::Program& program = scheduled.program();
  nb::dict result;
  result["target"] = std::string(program::name_of(program.config.architecture));
  result["sms"] = program.config.sms;
  result["instructions"] = program.instructions.size();
  result["waves"] = program.waves();
  result["empty_slots"] = program.empty_slots();
  result["tensor_slots"] = program.storages.size();
  result["barriers"] = program.counters.size();
  return result;
}

}  // namespace

void bind_program(nb::module_& module) {
  nb::class_<Scheduled>(module, "Program", "A scheduled graph: instructions, counters and storages, as data.")
      .def_prop_ro("storages", &storages, "Name, kind (input, output, workspace) and bytes of each storage.")
      .def_prop_ro(
          "inputs", [](const Scheduled& s) { return ports(s.program().inputs); },
          "Where each input of the graph lies: storage, offset, sizes, strides (elements) and dtype.")
      .def_prop_ro(
          "outputs", [](const Scheduled& s) { return ports(s.program().outputs); }, "The same for what it returns.")
      .def_prop_ro("nodes", &nodes, "Name, op, code, first instruction, number of instructions, source line.")
      .def_prop_ro("summary", &summary, "Counts that describe the schedule.")
      .def_prop_ro(
          "graph", [](const Scheduled& s) { return s.graph(); }, "The graph after the passes.")
      .def(
          "save",
          [](const Scheduled& s, const std::string& path) {
            megakittens::write_file(path, program::to_bytes(s.program()));
          },
          nb::arg("path"), "Writes the program's file.")
      .def("__str__", [](const Scheduled& s) { return program::to_text(s.program()); })
      .def(
          "verify",
          [](const Scheduled& s) {
            auto findings = schedule::verify(s.program());
            if (!findings.empty()) throw InternalError(findings.front().text);
          },
          "Checks by independent code that every access is ordered.")
      .def("run_emulator", &Scheduled::run_emulator, nb::arg("memory"), nb::arg("seed") = 1, nb::arg("check") = false,
           "Runs once. `memory` gives (address, bytes) for every storage of kind input and output; check=True proves "
           "each access ordered while it runs.");
  module.def("schedule", &make, nb::rv_policy::take_ownership, nb::arg("graph"), nb::arg("options") = nb::dict(),
             "Runs the passes and schedules. Options: fusion, numerics, target, sms, cluster, queue.");
}

}  // namespace megakittens::python
