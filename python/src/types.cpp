// Users' instruction types in Python: host halves that are Python objects, plug-ins, and the generated test.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "ir/dtype.hpp"
#include "ops/user/registry.hpp"
#include "runtime/plugin.hpp"
#include "runtime/type_test.hpp"
#include "support/error.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

/// KeyboardInterrupt, SystemExit, and whatever else of Python is no Exception.
struct PythonInterruption : Interruption {
  explicit PythonInterruption(const nb::python_error& raised) : error(std::make_shared<nb::python_error>(raised)) {}
  std::shared_ptr<nb::python_error> error;
};

using FloatArray = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::string dtype_text(DType dtype) {
  return std::string(ir::name_of(static_cast<ir::DType>(dtype)));
}

nb::tuple tuple_of(const Extents& extents) {
  nb::list list;
  for (const std::int64_t value : extents) list.append(value);
  return nb::tuple(list);
}

Extents extents_of(const nb::handle& given) {
  const auto values = nb::cast<std::vector<std::int64_t>>(given);
  Extents extents = Extents::of_rank(values.size());
  std::ranges::copy(values, extents.begin());
  return extents;
}

nb::list operands_of(const std::vector<OperandInfo>& operands) {
  nb::list list;
  for (const OperandInfo& operand : operands)
    list.append(nb::make_tuple(dtype_text(operand.dtype), tuple_of(operand.sizes), tuple_of(operand.strides),
                               operand.output, operand.rank, operand.bulk));
  return list;
}

nb::tuple call_of(const Call& call) {
  return nb::make_tuple(operands_of(call.operands), call.arguments, call.sms);
}

std::vector<TensorInfo> tensors_of(const nb::handle& list) {
  std::vector<TensorInfo> infos;
  for (const nb::handle item : list) {
    const auto [name, dtype, shape] = nb::cast<std::tuple<std::string, std::string, Shape>>(item);
    infos.push_back({.name = name, .dtype = static_cast<DType>(ir::parse_dtype(dtype)), .shape = shape});
  }
  return infos;
}

/// A host half whose methods are those of a Python object (python/megakittens/instruction_type.py, class Host).
class PythonType final : public InstructionType {
 public:
  explicit PythonType(nb::object host) : host_(std::move(host)) {}

  std::string name() const override { return text("name"); }
  std::string operation() const override { return text("operation"); }
  std::string device_half() const override { return text("device"); }

  std::optional<std::string> unsuited(const Call& call) const override {
    return guarded([&]() -> std::optional<std::string> {
      const nb::object reason = host_.attr("unsuited")(call_of(call));
      if (reason.is_none()) return std::nullopt;
      return nb::cast<std::string>(reason);
    });
  }
  TypePlan plan(const Call& call) const override {
    return guarded([&] {
      TypePlan plan;
      std::tie(plan.tiles, plan.constants, plan.bytes, plan.operations, plan.clocks) =
          nb::cast<std::tuple<std::vector<std::vector<std::int32_t>>, std::vector<float>, std::int64_t, std::int64_t,
                              std::uint64_t>>(host_.attr("plan")(call_of(call)));
      return plan;
    });
  }
  std::vector<Touch> touches(const std::vector<OperandInfo>& operands,
                             const std::vector<std::int32_t>& index) const override {
    return guarded([&] {
      std::vector<Touch> touches;
      for (const nb::handle item : host_.attr("touches")(operands_of(operands), index)) {
        touches.push_back({.operand = nb::cast<int>(item[0]), .lo = extents_of(item[1]), .hi = extents_of(item[2])});
      }
      return touches;
    });
  }
  std::vector<BulkMap> maps(const std::vector<OperandInfo>& operands) const override {
    return guarded([&] {
      std::vector<BulkMap> maps;
      for (const nb::handle item : host_.attr("maps")(operands_of(operands)))
        maps.push_back({.operand = nb::cast<int>(item[0]),
                        .rows = nb::cast<std::uint32_t>(item[1]),
                        .columns = nb::cast<std::uint32_t>(item[2]),
                        .swizzle = static_cast<Swizzle>(program::parse_swizzle(nb::cast<std::string>(item[3])))});
      return maps;
    });
  }
  bool takes_epilogue() const override {
    return guarded([&] { return nb::cast<bool>(host_.attr("takes_epilogue")); });
  }
  std::vector<std::vector<float>> reference(const Call& call,
                                            const std::vector<std::vector<float>>& inputs) const override {
    return guarded([&] {
      nb::list arrays;
      for (const std::vector<float>& input : inputs)
        arrays.append(
            nb::ndarray<nb::numpy, float, nb::ndim<1>>(const_cast<float*>(input.data()), {input.size()}, nb::handle())
                .cast(nb::rv_policy::copy));
      std::vector<std::vector<float>> outputs;
      for (const nb::handle item : host_.attr("reference")(call_of(call), arrays)) {
        const auto array = nb::cast<FloatArray>(item);
        outputs.emplace_back(array.data(), array.data() + array.size());
      }
      return outputs;
    });
  }
  std::vector<Example> examples() const override {
    return guarded([&] {
      std::vector<Example> examples;
      for (const nb::handle item : host_.attr("examples")())
        examples.push_back(
            {.inputs = tensors_of(item[0]), .outputs = tensors_of(item[1]), .arguments = nb::cast<Arguments>(item[2])});
      return examples;
    });
  }

 private:
  /// Python's exceptions and wrong types as errors with Python's text, which has the user's line.
  template <class F>
  static auto guarded(F&& f) -> decltype(f()) {
    const nb::gil_scoped_acquire gil;
    std::string problem;
    try {
      return f();
    } catch (const nb::python_error& error) {
      // NOLINTNEXTLINE(bugprone-std-exception-baseclass)
      if (!error.matches(PyExc_Exception)) throw PythonInterruption(error);
      problem = error.what();
    } catch (const nb::cast_error&) {
      problem = "what it returns has another form than the guide describes";
    }
    throw std::runtime_error(problem);
  }
  std::string text(const char* attribute) const {
    return guarded([&] { return nb::cast<std::string>(host_.attr(attribute)); });
  }

  nb::object host_;
};

}  // namespace

void bind_types(nb::module_& module) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const PythonInterruption& interruption) {
      interruption.error->restore();
    }
  });
  module.def(
      "register_type", [](nb::object host) { ops::register_user_type(std::make_shared<PythonType>(std::move(host))); },
      nb::arg("host"), "Registers an instruction type whose host half is a Python object.");
  module.def(
      "load_plugin",
      [](const std::filesystem::path& path, const std::string& device) {
        return runtime::load_plugin(path.string(), device);
      },
      nb::arg("path"), nb::arg("device") = "",
      "Registers the types of a plug-in and gives their names; `device`: the device half of its one type.");
  module.def("unregister_type", &ops::unregister_user_type, nb::arg("name"), "Takes an instruction type away.");
  module.def(
      "registered_types",
      [] {
        std::vector<std::string> names;
        for (const ops::UserType* type : ops::user_types()) names.emplace_back(type->name());
        return names;
      },
      "Names of the users' instruction types that are registered.");
  module.def(
      "test_type",
      [](const std::string& name, int schedules, const std::string& target) {
        if (schedules < 1)
          throw OptionError(
              fmt::format("schedules={}: the test needs at least one schedule of each program", schedules));
        runtime::TypeTestOptions options;
        options.schedules = schedules;
        options.target = target;
        const nb::gil_scoped_release release;
        const runtime::TypeTestReport report = runtime::test_type(name, options);
        return std::make_tuple(report.programs, report.launches);
      },
      nb::arg("name"), nb::arg("schedules") = 3, nb::arg("target") = "",
      "Runs the generated test on the emulator; gives the numbers of programs and launches.");
}

}  // namespace megakittens::python
