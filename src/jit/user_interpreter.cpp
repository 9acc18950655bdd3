#include "jit/user_interpreter.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "jit/cubin_cache.hpp"

namespace megakittens::jit {
namespace {

/// What differs between the architectures, as the sources of src/interpreter say it.
struct Parts {
  const char* name;
  const char* build;
  int threads;
};

Parts parts_of(Architecture architecture) {
  if (architecture == Architecture::kSm90a) return {.name = "sm90", .build = "HopperBuild", .threads = 384};
  return {.name = "sm100", .build = "BlackwellBuild", .threads = 512};
}

std::string names_of(std::span<const ops::DeviceHalf> halves) {
  std::vector<std::string> names;
  for (const ops::DeviceHalf& half : halves) names.push_back(half.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

constexpr const char* kGpuEntry = R"(
extern "C" __global__ void __launch_bounds__({threads}, 1)
    megakittens_{name}(const __grid_constant__ megakittens::program::LaunchParameters launch) {{
  megakittens::interpreter::interpret<megakittens::interpreter::{build}, megakittens::interpreter::UserSet>(launch);
}}
)";

constexpr const char* kHostEntry = R"(
namespace megakittens::interpreter {{
static void run(const void* parameters) {{
  device::single_lane_depth = 0;
  interpret<{build}, UserSet>(*static_cast<const program::LaunchParameters*>(parameters));
}}
static void bind(const device::host::HookTable* table) {{ device::host::bound_hooks = table; }}
static const device::host::HostKernel kernel{{
    device::host::kHookTableVersion, {build}::kWarps, device::Layout<{build}>::kBytes, {build}::kPages,
    {build}::kPageBytes, {build}::kSlots, bind, run}};
}}
extern "C" __attribute__((visibility("default"))) const megakittens::device::host::HostKernel* megakittens_host_kernel() {{
  return &megakittens::interpreter::kernel;
}}
)";

}  // namespace

std::string user_interpreter_source(Architecture architecture, std::span<const ops::DeviceHalf> halves, Side side) {
  const Parts parts = parts_of(architecture);
  std::string text = fmt::format("// The interpreter for {} with {}.\n", name_of(architecture), names_of(halves));
  if (side == Side::host) text += "#include \"device/host/hook_forwards.hpp\"\n";
  text += fmt::format("#include \"interpreter/{}.cuh\"\n", parts.name);
  for (const ops::DeviceHalf& half : halves) text += fmt::format("#include \"{}\"\n", half.path.string());
  text += fmt::format(
      "namespace megakittens::interpreter {{\n"
      "struct UserSet : ops::{}::Set {{\n"
      "  template <class F>\n"
      "  static MK_DEVICE void visit(uint32_t icode, F&& f) {{\n",
      parts.name);
  for (const ops::DeviceHalf& half : halves)
    text += fmt::format("    if (icode == {}u) return f(user::{}{{}});\n", half.icode, half.structure);
  text += fmt::format("    return ops::{}::Set::visit(icode, static_cast<F&&>(f));\n  }}\n}};\n}}\n", parts.name);
  return text + fmt::format(fmt::runtime(side == Side::gpu ? kGpuEntry : kHostEntry), fmt::arg("name", parts.name),
                            fmt::arg("build", parts.build), fmt::arg("threads", parts.threads));
}

CompileRequest user_interpreter_request(Architecture architecture, std::span<const ops::DeviceHalf> halves) {
  CompileRequest request;
  request.name = fmt::format("the interpreter with {}", names_of(halves));
  request.source = user_interpreter_source(architecture, halves, Side::gpu);
  request.architecture = architecture;
  request.embedded_headers = true;
  request.max_code_bytes = kMaxUserInterpreterBytes;
  for (const ops::DeviceHalf& half : halves)
    if (const auto folder = half.path.parent_path(); std::ranges::count(request.include_folders, folder) == 0)
      request.include_folders.push_back(folder);
  return request;
}

InterpreterCubin user_interpreter_cubin(Architecture architecture, std::span<const ops::DeviceHalf> halves) {
  const CompileRequest request = user_interpreter_request(architecture, halves);
  Hasher hasher = key_of_request(request);
  for (const ops::DeviceHalf& half : halves) hasher.add(half.hash);
  const std::string stem = fmt::format("user-{}-{}", name_of(architecture), hasher.digest().hex());
  return cached_cubin(stem, fmt::format("interpreter with {}", names_of(halves)), request);
}

}  // namespace megakittens::jit
