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
  Located(std::shared_ptr<megakittens::InstructionType> type, fs::path folder)
      : type_(std::move(type)), folder_(std::move(folder)) {}
  std::string name() const override { return type_->name(); }
  std::string operation() const override { return type_->operation(); }
  std::string device_half() const override { return (folder_ / type_->device_half()).string(); }
  std::optional<std::string> unsuited(const Call& call) const override { return type_->unsuited(call); }
  TypePlan plan(const Call& call) const override { return type_->plan(call); }
  std::vector<Touch> touches(const std::vector<OperandInfo>& operands,
                             const std::vector<std::int32_t>& index) const override {
    return type_->touches(operands, index);
  }
  std::vector<std::vector<float>> reference(const Call& call,
                                            const std::vector<std::vector<float>>& inputs) const override {
    return type_->reference(call, inputs);
  }
  std::vector<Example> examples() const override { return type_->examples(); }

 private:
  std::shared_ptr<megakittens::InstructionType> type_;
  fs::path folder_;
};

class Collector final : public Plugin {
 public:
  explicit Collector(fs::path folder) : folder_(std::move(folder)) {}
  void add(std::shared_ptr<megakittens::InstructionType> type) override {
    types.push_back(std::make_shared<Located>(std::move(type), folder_));
  }
  std::vector<std::shared_ptr<megakittens::InstructionType>> types;

 private:
  fs::path folder_;
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

std::vector<std::string> load_plugin(const fs::path& path) {
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
  Collector collector(file.parent_path());
  entry(collector);
  return loaded[file] = register_all(collector);
}

}  // namespace megakittens::runtime
