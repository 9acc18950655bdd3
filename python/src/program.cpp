// program::Program in Python: scheduling a graph, files, and running on the emulator.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "bindings.hpp"
#include "ir/graph.hpp"
#include "runtime/prepare.hpp"
#include "schedule/verify.hpp"
#include "scheduled.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

runtime::PrepareOptions options_of(const nb::dict& given) {
  runtime::PrepareOptions options;
  for (const auto& [key, value] : given) {
    std::string name = nb::cast<std::string>(key);
    if (name == "passes")
      for (const auto& [pass, on] : nb::cast<std::map<std::string, bool>>(value))
        passes::switch_pass(options.passes, pass, on);
    else if (name == "numerics")
      options.passes.numerics = passes::parse_numerics(nb::cast<std::string>(value));
    else if (name == "target")
      options.architecture = program::parse_architecture(nb::cast<std::string>(value));
    else if (name == "queue")
      options.queue = program::parse_queue_mode(nb::cast<std::string>(value));
    else if (name == "sms")
      options.sms = nb::cast<std::uint32_t>(value);
    else if (name == "cluster")
      options.cluster = nb::cast<std::uint32_t>(value);
    else
      throw OptionError(
          fmt::format("unknown option '{}'; known are cluster, numerics, passes, queue, sms, target", name));
  }
  return options;
}

Scheduled* make(const ir::Graph& graph, const nb::dict& given) {
  runtime::PrepareOptions options = options_of(given);
  nb::gil_scoped_release release;
  return new Scheduled(runtime::prepare(graph, options));
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

void Scheduled::run_emulator(const std::map<std::uint32_t, std::pair<std::uintptr_t, std::size_t>>& memory,
                             std::uint64_t seed, bool check) {
  auto base_of = [&](std::uint32_t s) -> void* {
    const program::Storage& storage = program_.storages[s];
    auto found = memory.find(s);
    if (found == memory.end() || found->second.second < storage.bytes)
      throw UserError(fmt::format("storage {} ('{}') needs {} bytes; {} were given", s, storage.name, storage.bytes,
                                  found == memory.end() ? 0 : found->second.second));
    // An empty tensor may have no address; what nobody touches may lie anywhere.
    static char nothing;
    return storage.bytes == 0 ? &nothing : reinterpret_cast<void*>(found->second.first);
  };
  std::vector<void*> inputs;
  std::vector<void*> outputs;
  for (const program::Port& port : program_.inputs) inputs.push_back(base_of(port.storage));
  for (std::uint32_t s : runtime::output_storages(program_)) outputs.push_back(base_of(s));
  emulator::RunOptions options;
  options.seed = seed;
  options.check = check;
  options.poll = [last = std::chrono::steady_clock::now()]() mutable {
    if (std::chrono::steady_clock::now() - last < std::chrono::milliseconds(100)) return;
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    last = std::chrono::steady_clock::now();
  };
  nb::gil_scoped_release release;
  std::scoped_lock lock(mutex_);
  if (running_)
    throw UserError(
        fmt::format("program '{}' runs on the emulator, and a signal handler calls it again: it has one "
                    "workspace. Raise from the handler, or set a flag",
                    program_.name));
  struct Running {
    explicit Running(bool& flag) : flag_(flag) { flag_ = true; }
    ~Running() { flag_ = false; }
    bool& flag_;
  } running(running_);
  if (!machine_) machine_ = std::make_unique<runtime::HostProgram>(program_);
  runtime::expect_good(program_, machine_->run(inputs, outputs, options));
}

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
      .def(
          "save",
          [](const Scheduled& s, const std::filesystem::path& path) {
            megakittens::write_file(path.string(), program::to_bytes(s.program()));
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
  module.def(
      "schedule", &make, nb::rv_policy::take_ownership, nb::arg("graph"), nb::arg("options") = nb::dict(),
      "Runs the passes and schedules. Options: passes (switches by name), numerics, target, sms, cluster, queue.");
  module.def(
      "pass_switches",
      [] {
        nb::dict switches;
        for (const passes::Pass& pass : passes::passes())
          switches[std::string(pass.switch_name).c_str()] = std::string(pass.summary);
        return switches;
      },
      "The switch of each graph pass, in the order of the passes, and what the pass does.");
}

}  // namespace megakittens::python
