// ir::Graph in Python: making, printing, files, and the reference evaluation.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "frontend/from_fx.hpp"
#include "ir/graph.hpp"
#include "ir/reference.hpp"
#include "support/error.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

using FloatArray = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumpyArray = nb::ndarray<nb::numpy, float, nb::ndim<1>>;

NumpyArray to_numpy(std::vector<float> values) {
  auto* kept = new std::vector<float>(std::move(values));
  nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<float>*>(pointer); });
  return {kept->data(), {kept->size()}, owner};
}

nb::dict describe(const ir::Graph& graph, ir::ValueId id, const ir::View& view) {
  nb::dict result;
  const ir::Value& root = graph.value(graph.root(id));
  nb::object input = nb::none();
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    if (graph.inputs[i] == graph.root(id)) input = nb::int_(i);
  result["name"] = graph.value(id).name;
  result["dtype"] = std::string(ir::name_of(root.tensor.dtype));
  result["offset"] = view.offset;
  result["sizes"] = view.sizes;
  result["strides"] = view.strides;
  result["input"] = input;
  result["span"] = root.tensor.span();
  result["root"] = graph.root(id);
  return result;
}

nb::list inputs(const ir::Graph& graph) {
  nb::list list;
  for (ir::ValueId id : graph.inputs) {
    nb::dict item = describe(graph, id, ir::View::whole(graph.value(id).tensor));
    bool mutated = false;
    for (const ir::Value& value : graph.values)
      mutated = mutated || (value.mutation && graph.root(value.mutation->of) == id);
    item["mutated"] = mutated;
    list.append(item);
  }
  return list;
}

nb::list outputs(const ir::Graph& graph) {
  nb::list list;
  for (const ir::Operand& output : graph.outputs) list.append(describe(graph, output.value, output.view));
  return list;
}

nb::list nodes(const ir::Graph& graph) {
  nb::list list;
  for (const ir::Node& node : graph.nodes) {
    nb::dict item;
    item["name"] = node.name;
    item["op"] = std::string(ir::op_of(node));
    item["source"] = node.source;
    const ir::Call* call = ir::call_of(node);
    item["target"] = call != nullptr ? call->target : std::string();
    item["why"] = call != nullptr ? call->why : std::string();
    list.append(item);
  }
  return list;
}

nb::tuple evaluate(const ir::Graph& graph, const std::vector<FloatArray>& arrays, const std::string& numerics) {
  if (numerics != "eager" && numerics != "exact")
    throw OptionError(fmt::format("numerics='{}'; known are 'eager' and 'exact'", numerics));
  std::vector<std::vector<float>> storages;
  for (const FloatArray& array : arrays) storages.emplace_back(array.data(), array.data() + array.size());
  ir::ReferenceResult result;
  {
    nb::gil_scoped_release release;
    result = ir::evaluate(graph, std::move(storages),
                          numerics == "eager" ? ir::ReferenceNumerics::eager : ir::ReferenceNumerics::exact);
  }
  nb::list shown;
  nb::list after;
  for (std::vector<float>& values : result.outputs) shown.append(to_numpy(std::move(values)));
  for (std::vector<float>& values : result.inputs) after.append(to_numpy(std::move(values)));
  return nb::make_tuple(shown, after);
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<ir::Graph>(module, "Graph", "A captured function: values, nodes in order, and what it returns.")
      .def_static(
          "from_fx_json",
          [](const std::string& text) {
            frontend::Captured captured = frontend::from_fx(frontend::fx::from_json(text));
            return nb::make_tuple(std::move(captured.graph), captured.layout);
          },
          nb::arg("text"),
          "From an FX graph in the form that fx.py writes: the graph, and as JSON how it maps to the call "
          "(from_fx.hpp).")
      .def_static("from_json", &ir::from_json, nb::arg("text"), "From the text of a .mkg.json file.")
      .def_static(
          "load", [](const std::filesystem::path& path) { return ir::load(path.string()); }, nb::arg("path"),
          "From a .mkg.json file.")
      .def(
          "to_json", [](const ir::Graph& graph) { return ir::to_json(graph); }, "The text of a .mkg.json file.")
      .def(
          "save", [](const ir::Graph& graph, const std::filesystem::path& path) { ir::save(graph, path.string()); },
          nb::arg("path"), "Writes a .mkg.json file.")
      .def("__str__", [](const ir::Graph& graph) { return ir::to_string(graph); })
      .def("__repr__",
           [](const ir::Graph& graph) {
             return fmt::format("<megakittens.Graph '{}': {} nodes>", graph.name, graph.nodes.size());
           })
      .def(
          "__eq__", [](const ir::Graph& a, const ir::Graph& b) { return a == b; }, nb::is_operator())
      .def(
          "verify", [](const ir::Graph& graph) { ir::verify(graph); },
          "Checks every rule of the graph's specification.")
      .def("bind", &ir::bind_symbols, nb::arg("values"),
           "The graph with a size of at least 1 for each symbol: bind({'s0': 512}).")
      .def_prop_ro(
          "symbols", [](const ir::Graph& graph) { return graph.symbols; },
          "The symbols of its sizes, with the sample values that shapes are shown with; empty once bound.")
      .def_prop_ro("name", [](const ir::Graph& graph) { return graph.name; })
      .def_prop_ro("inputs", &inputs, "Name, dtype, sizes, strides, span, and whether the graph writes it.")
      .def_prop_ro("outputs", &outputs, "Name, dtype, offset, sizes, strides, and the input whose storage it shows.")
      .def_prop_ro("nodes", &nodes, "Name, op, source line, and for a call the target and why nothing else takes it.")
      .def("evaluate", &evaluate, nb::arg("storages"), nb::arg("numerics") = "eager",
           "The reference on the CPU: a float array of `span` elements for each input gives (outputs, inputs after).");
}

}  // namespace megakittens::python
