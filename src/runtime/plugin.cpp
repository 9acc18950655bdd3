#include "runtime/plugin.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "megakittens/instruction_type.hpp"
#include "ops/user/registry.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

namespace fs = std::filesystem;

/// A plug-in's type, with the path of its device half made absolute.
class Located final : public megakittens::InstructionType {
 public:
  Located(std::shared_ptr<megakittens::InstructionType> type, fs::path device_half)
      : type_(std::move(type)), device_half_(std::move(device_half)) {}
  std::string name() const override { return type_->name(); }
  std::string operation() const override { return type_->operation(); }
  std::string device_half() const override { return device_half_.string(); }
  std::optional<std::string> unsuited(const Call& call) const override { return type_->unsuited(call); }
  TypePlan plan(const Call& call) const override { return type_->plan(call); }
  std::vector<Touch> touches(const std::vector<OperandInfo>& operands,
                             const std::vector<std::int32_t>& index) const override {
    // A program from a file may have fewer words than the type plans.
    std::vector<std::int32_t> all = index;
    all.resize(program::kMaxIndices);
    return type_->touches(operands, all);
  }
  std::vector<std::vector<float>> reference(const Call& call,
                                            const std::vector<std::vector<float>>& inputs) const override {
    return type_->reference(call, inputs);
  }
  std::vector<Example> examples() const override { return type_->examples(); }

 private:
  std::shared_ptr<megakittens::InstructionType> type_;
  fs::path device_half_;
};

class Collector final : public Plugin {
 public:
  Collector(fs::path folder, fs::path device_half) : folder_(std::move(folder)), device_half_(std::move(device_half)) {}
  void add(std::shared_ptr<megakittens::InstructionType> type) override {
    const fs::path path = device_half_.empty() ? folder_ / type->device_half() : device_half_;
    types.push_back(std::make_shared<Located>(std::move(type), path));
  }
  std::vector<std::shared_ptr<megakittens::InstructionType>> types;

 private:
  fs::path folder_;
  fs::path device_half_;
};

std::vector<std::string> register_all(const Collector& collector) {
  std::vector<std::string> names;
  try {
    for (const auto& type : collector.types) names.emplace_back(ops::register_user_type(type).name());
  } catch (...) {
    for (const std::string& name : names) ops::unregister_user_type(name);
    throw;
  }
  return names;
}

}  // namespace

std::vector<std::string> load_plugin(const fs::path& path, const fs::path& device_half) {
  static std::mutex mutex;
  static std::map<fs::path, std::vector<std::string>> loaded;
  std::scoped_lock lock(mutex);
  std::error_code fault;
  const fs::path file = fs::canonical(path, fault);
  if (fault) throw UserError(fmt::format("cannot open plug-in '{}': {}", path.string(), fault.message()));
  if (auto found = loaded.find(file); found != loaded.end()) return found->second;

  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw UserError(fmt::format("cannot open plug-in '{}': {}", path.string(), ::dlerror()));
  auto* version = reinterpret_cast<std::uint32_t (*)()>(::dlsym(library, "megakittens_plugin_version"));
  auto* entry = reinterpret_cast<void (*)(Plugin&)>(::dlsym(library, "megakittens_plugin"));
  std::string problem;
  if (version == nullptr || entry == nullptr)
    problem = fmt::format(
        "'{}' is no plug-in: it does not use MEGAKITTENS_PLUGIN of "
        "<megakittens/instruction_type.hpp>",
        path.string());
  else if (version() != kPluginVersion)
    problem = fmt::format(
        "plug-in '{}' was compiled for version {} of <megakittens/instruction_type.hpp>, this library "
        "has version {}: compile it again",
        path.string(), version(), kPluginVersion);
  if (!problem.empty()) {
    ::dlclose(library);
    throw UserError(problem);
  }
  Collector collector(file.parent_path(), device_half);
  entry(collector);
  if (!device_half.empty() && collector.types.size() != 1)
    throw UserError(fmt::format("plug-in '{}' brings {} instruction types; a device half can be given for one",
                                path.string(), collector.types.size()));
  return loaded[file] = register_all(collector);
}

}  // namespace megakittens::runtime
