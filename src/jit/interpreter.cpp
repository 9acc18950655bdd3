#include "jit/interpreter.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "jit/cubin_cache.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

std::string title(Halves halves) {
  std::vector<std::string> names;
  for (const ops::DeviceHalf& half : halves) names.push_back(half.name);
  return halves.empty() ? "interpreter" : fmt::format("interpreter with {}", fmt::join(names, ", "));
}

// Everything but the compiler: a shipped cubin is right whichever NVRTC this machine has.
std::string source_key(Architecture architecture, Halves halves) {
  Hasher hasher = key_of_request(interpreter_request(architecture, halves));
  for (const ops::DeviceHalf& half : halves) hasher.add(half.hash);
  return hasher.digest().hex();
}

std::string file_stem(Architecture architecture, Halves halves = {}) {
  return fmt::format("{}-{}-{}", halves.empty() ? "interpreter" : "user", name_of(architecture),
                     source_key(architecture, halves));
}

fs::path library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&interpreter_cubin), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path();
}

constexpr const char* kGpuEntry = R"(
extern "C" __global__ void __launch_bounds__(32 * megakittens::interpreter::Set::Build::kWarps, 1)
    {}(const __grid_constant__ megakittens::program::LaunchParameters launch) {{
  megakittens::interpreter::interpret<megakittens::interpreter::Set>(launch);
}}
)";

constexpr const char* kHostEntry = R"(
namespace megakittens::interpreter {
static void run(const void* parameters) {
  device::single_lane_depth = 0;
  interpret<Set>(*static_cast<const program::LaunchParameters*>(parameters));
}
static void bind(const device::host::HookTable* table) { device::host::bound_hooks = table; }
using B = Set::Build;
static const device::host::HostKernel kernel{
    device::host::kHookTableVersion, B::kWarps, device::Layout<B>::kBytes, bind, run};
}
extern "C" __attribute__((visibility("default"))) const megakittens::device::host::HostKernel* megakittens_host_kernel() {
  return &megakittens::interpreter::kernel;
}
)";

}  // namespace

std::string interpreter_entry(Architecture architecture) {
  return fmt::format("megakittens_{}", program::target_of(architecture).family.sources);
}

std::string interpreter_source(Architecture architecture, Halves halves, Side side) {
  const char* family = program::target_of(architecture).family.sources;
  std::string text = fmt::format("// The {} for {}.\n", title(halves), name_of(architecture));
  if (!halves.empty()) text += "#define MK_LANE_VALUES 16  // of elementwise blocks: users' code needs registers too\n";
  if (side == Side::host) text += "#include \"device/host/hook_forwards.hpp\"\n";
  text += fmt::format("#include \"interpreter/kernel.cuh\"\n#include \"ops/{}/set.cuh\"\n", family);
  std::string visits;
  for (const ops::DeviceHalf& half : halves) {
    text += fmt::format("#include \"{}\"\n", half.path.string());
    visits += fmt::format("    if (icode == {}u) return f(user::{}{{}});\n", half.icode, half.structure);
  }
  text += fmt::format(
      "namespace megakittens::interpreter {{\n"
      "struct Set : ops::{0}::Set {{\n"
      "  template <class F>\n"
      "  static MK_DEVICE void visit(uint32_t icode, F&& f) {{\n"
      "{1}    return ops::{0}::Set::visit(icode, static_cast<F&&>(f));\n  }}\n}};\n}}\n",
      family, visits);
  return text + (side == Side::gpu ? fmt::format(kGpuEntry, interpreter_entry(architecture)) : kHostEntry);
}

CompileRequest interpreter_request(Architecture architecture, Halves halves) {
  CompileRequest request;
  request.name = "the " + title(halves);
  request.source = interpreter_source(architecture, halves, Side::gpu);
  request.architecture = architecture;
  request.embedded_headers = true;
  request.max_code_bytes = halves.empty() ? kMaxInterpreterBytes : kMaxUserInterpreterBytes;
  for (const ops::DeviceHalf& half : halves)
    if (const auto folder = half.path.parent_path(); std::ranges::count(request.include_folders, folder) == 0)
      request.include_folders.push_back(folder);
  return request;
}

std::vector<fs::path> shipped_folders() {
  const fs::path own = library_folder();
  if (own.empty()) return {};
  return {own / "cubins", own.parent_path() / "share" / "megakittens" / "cubins"};
}

std::string shipped_name(Architecture architecture) {
  return file_stem(architecture) + ".cubin";
}

std::string shipped_file(Architecture architecture, const std::string& cubin) {
  return pack(source_key(architecture, {}), cubin);
}

InterpreterCubin interpreter_cubin(Architecture architecture, Halves halves) {
  const std::string stem = file_stem(architecture, halves);
  if (halves.empty())
    for (const fs::path& folder : shipped_folders())
      if (std::optional<std::string> cubin = find_cubin(folder / (stem + ".cubin"), source_key(architecture, {})))
        return {.bytes = std::move(*cubin), .origin = "shipped"};
  return cached_cubin(stem, title(halves), interpreter_request(architecture, halves));
}

}  // namespace megakittens::jit
