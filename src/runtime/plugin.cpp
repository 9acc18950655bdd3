#include "runtime/plugin.hpp"

#include <dlfcn.h>

#include <algorithm>
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
  std::vector<BulkMap> maps(const std::vector<OperandInfo>& operands) const override { return type_->maps(operands); }
  bool takes_epilogue() const override { return type_->takes_epilogue(); }
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

using Entry = void (*)(Plugin&);

/// A plug-in that is open, and what it has brought.
struct Loaded {
  Entry entry = nullptr;
  std::vector<const ops::UserType*> types;

  static bool registered(const ops::UserType* type) { return ops::user_type_named(std::string(type->name())) == type; }
  bool all_registered() const { return !types.empty() && std::ranges::all_of(types, registered); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ops::UserType* type : types) names.emplace_back(type->name());
    return names;
  }
};

/// What the plug-in throws, in an error that names it.
template <class F>
auto ask(const fs::path& path, F&& f) {
  std::string problem = "it throws what is no std::exception";
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): said below
  }
  throw UserError(fmt::format("plug-in '{}' failed as its types were registered: {}", path.string(), problem));
}

/// Registers what the plug-in brings, without what is registered already; all of it or nothing.
void register_types(Loaded& plugin, const fs::path& path, const fs::path& file, const fs::path& device_half) {
  Collector collector(file.parent_path(), device_half);
  ask(path, [&] { plugin.entry(collector); });
  if (!device_half.empty() && collector.types.size() != 1)
    throw UserError(fmt::format("plug-in '{}' brings {} instruction types; a device half can be given for one",
                                path.string(), collector.types.size()));
  std::vector<const ops::UserType*> types;
  std::vector<std::string> added;
  try {
    for (const auto& type : collector.types) {
      const std::string name = ask(path, [&] { return type->name(); });
      auto kept = std::ranges::find(plugin.types, name, &ops::UserType::name);
      if (kept != plugin.types.end() && Loaded::registered(*kept)) {
        types.push_back(*kept);
        continue;
      }
      types.push_back(ask(path, [&] { return &ops::register_user_type(type); }));
      added.push_back(name);
    }
  } catch (...) {
    for (const std::string& name : added) ops::unregister_user_type(name);
    throw;
  }
  plugin.types = std::move(types);
}

}  // namespace

std::vector<std::string> load_plugin(const fs::path& path, const fs::path& device_half) {
  static std::mutex mutex;
  static std::map<fs::path, Loaded> loaded;
  std::scoped_lock lock(mutex);
  std::error_code fault;
  const fs::path file = fs::canonical(path, fault);
  if (fault) throw UserError(fmt::format("cannot open plug-in '{}': {}", path.string(), fault.message()));
  if (auto found = loaded.find(file); found != loaded.end()) {
    if (!found->second.all_registered()) register_types(found->second, path, file, device_half);
    return found->second.names();
  }

  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw UserError(fmt::format("cannot open plug-in '{}': {}", path.string(), ::dlerror()));
  auto* version = reinterpret_cast<std::uint32_t (*)()>(::dlsym(library, "megakittens_plugin_version"));
  auto entry = reinterpret_cast<Entry>(::dlsym(library, "megakittens_plugin"));
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
  Loaded plugin{.entry = entry};
  register_types(plugin, path, file, device_half);
  return loaded.emplace(file, std::move(plugin)).first->second.names();
}

}  // namespace megakittens::runtime
