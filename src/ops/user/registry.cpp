#include "ops/user/registry.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "ir/reference.hpp"
#include "ops/icodes.hpp"
#include "support/error.hpp"

namespace megakittens::ops {
namespace {

/// Place i has icode kIcodeCount + i. `type` is null while nothing of that name is registered, `last` never.
struct Place {
  std::string name;
  const UserType* type = nullptr;
  const UserType* last = nullptr;
};

struct Registry {
  std::mutex mutex;
  std::deque<Place> places;  // names stay where they are
  std::deque<std::unique_ptr<UserType>> kept;
};

// Never destroyed: types may hold objects of Python, which ends before statics do.
Registry& registry() {
  static auto* registry = new Registry;
  return *registry;
}

std::string how_to_register(const std::string& name) {
  return fmt::format(
      "register '{}' first: megakittens.register(...) in Python, megakittens::load_plugin in C++, "
      "--plugin on the command line",
      name);
}

const UserType& expect_type(const program::UserType& wanted, const std::string& program) {
  const UserType* type = user_type_named(wanted.name);
  if (type == nullptr)
    throw UserError(fmt::format("program '{}' uses instruction type '{}', which is not registered; {}", program,
                                wanted.name, how_to_register(wanted.name)));
  if (type->fingerprint() != wanted.fingerprint)
    throw UserError(
        fmt::format("program '{}' was made with another version of instruction type '{}' (its device half "
                    "or its operation has changed since): schedule it again",
                    program, wanted.name));
  return *type;
}

}  // namespace

const UserType& register_user_type(std::shared_ptr<megakittens::InstructionType> host) {
  auto type = std::make_unique<UserType>(std::move(host));
  for (const InstructionType* standard : instruction_types())
    if (standard->name() == type->name())
      throw UserError(
          fmt::format("instruction type '{}' is one of the standard set: choose another name", type->name()));
  Registry& all = registry();
  std::scoped_lock lock(all.mutex);
  for (const Place& place : all.places) {
    if (place.type == nullptr) continue;
    if (place.name == type->name())
      throw UserError(fmt::format("an instruction type '{}' is registered already; unregister it first", place.name));
    if (place.type->target() == type->target())
      throw UserError(fmt::format("instruction type '{}' takes operation '{}' already; '{}' cannot take it too",
                                  place.name, type->target(), type->name()));
  }
  auto place = std::ranges::find(all.places, std::string(type->name()), &Place::name);
  if (place == all.places.end()) {
    if (all.places.size() + kIcodeCount >= UINT16_MAX) throw CapacityError("there are no more icodes");
    all.places.push_back({.name = std::string(type->name())});
    place = all.places.end() - 1;
  }
  type->set_icode(static_cast<std::uint16_t>(kIcodeCount + (place - all.places.begin())));
  place->type = place->last = type.get();
  ir::set_call_reference(type->target(), [type = type.get()](const auto& graph, const auto& node, const auto& inputs) {
    return type->reference(graph, node, inputs);
  });
  return *all.kept.emplace_back(std::move(type));
}

void unregister_user_type(const std::string& name) {
  Registry& all = registry();
  std::scoped_lock lock(all.mutex);
  auto place = std::ranges::find(all.places, name, &Place::name);
  if (place == all.places.end() || place->type == nullptr)
    throw UserError(fmt::format("no instruction type '{}' is registered", name));
  ir::set_call_reference(place->type->target(), {});
  place->type = nullptr;
}

std::vector<const UserType*> user_types() {
  Registry& all = registry();
  std::scoped_lock lock(all.mutex);
  std::vector<const UserType*> types;
  for (const Place& place : all.places)
    if (place.type != nullptr) types.push_back(place.type);
  return types;
}

const UserType* user_type_named(const std::string& name) {
  for (const UserType* type : user_types())
    if (type->name() == name) return type;
  return nullptr;
}

const UserType* user_type_for(const std::string& target) {
  for (const UserType* type : user_types())
    if (type->target() == target) return type;
  return nullptr;
}

const UserType& user_type_of_icode(std::uint16_t icode) {
  Registry& all = registry();
  std::scoped_lock lock(all.mutex);
  const std::size_t at = icode - std::size_t{kIcodeCount};
  if (at >= all.places.size())
    throw FormatError(fmt::format("icode {} is unknown; this process has {}", icode, kIcodeCount + all.places.size()));
  return *all.places[at].last;
}

std::string_view user_icode_name(std::uint16_t icode) {
  Registry& all = registry();
  std::scoped_lock lock(all.mutex);
  const std::size_t at = icode - std::size_t{kIcodeCount};
  return at < all.places.size() ? std::string_view(all.places[at].name) : "unknown";
}

std::uint16_t user_icode_end() {
  Registry& all = registry();
  std::scoped_lock lock(all.mutex);
  return static_cast<std::uint16_t>(kIcodeCount + all.places.size());
}

void name_user_types(program::Program& program) {
  program.types.clear();
  for (program::NodeInfo& node : program.nodes) {
    if (node.icode < kIcodeCount) continue;
    const UserType& type = user_type_of_icode(node.icode);
    node.op = type.name();
    if (std::ranges::count(program.types, node.icode, &program::UserType::icode) > 0) continue;
    program.types.push_back({.icode = node.icode, .name = std::string(type.name()), .fingerprint = type.fingerprint()});
  }
}

void adopt_user_types(program::Program& program) {
  std::map<std::uint16_t, std::uint16_t> renamed;
  for (program::UserType& type : program.types) {
    const std::uint16_t icode = expect_type(type, program.name).device_half().icode;
    renamed[type.icode] = icode;
    type.icode = icode;
  }
  auto rename = [&](std::uint16_t& icode) {
    if (icode < kIcodeCount) return;
    auto found = renamed.find(icode);
    if (found == renamed.end())
      throw FormatError(fmt::format("icode {} is unknown; this build has {}, and the program names no type for it",
                                    icode, static_cast<int>(kIcodeCount)));
    icode = found->second;
  };
  for (program::NodeInfo& node : program.nodes) rename(node.icode);
  for (program::Instruction& instruction : program.instructions) rename(instruction.icode);
}

std::vector<DeviceHalf> device_halves(const program::Program& program) {
  std::vector<DeviceHalf> halves;
  for (const program::UserType& wanted : program.types) {
    const UserType& type = expect_type(wanted, program.name);
    if (hash_of_device_half(type.device_half().path) != type.device_half().hash)
      throw UserError(
          fmt::format("'{}', the device half of instruction type '{}', has been edited since it was "
                      "registered: unregister the type and register it again",
                      type.device_half().path.string(), type.name()));
    halves.push_back(type.device_half());
  }
  return halves;
}

}  // namespace megakittens::ops
