// Users' instruction types in this process: adding, removing and testing them.
#pragma once

#include <megakittens/instruction_type.hpp>
#include <string>

namespace megakittens {

/// Adds a type; from now on graphs that call its operation can be scheduled. Throws UserError where its name or its
/// operation is taken, its device half cannot be read, or its name is no name.
void register_type(std::shared_ptr<InstructionType> type);
/// Programs that run already go on; others that use the type can be loaded again once one with the same name and device
/// half is registered.
/// Throws UserError where there is none of that name.
void unregister_type(const std::string& name);

/// Opens a plug-in and registers its types. Throws UserError where it cannot be opened, is no plug-in, or was compiled
/// for another kPluginVersion. Opening one again does nothing. It is never closed.
void load_plugin(const std::string& path);

struct TypeTest {
  int schedules = 3;  ///< of each program, by seed
  /// One of targets(); where empty, one for each set of device sources.
  std::string target = {};
};

/// What the generated test did.
struct TypeTestResult {
  int programs = 0;
  int launches = 0;
};

/// The generated test: every example alone and between other operations, with whole numbers and others, aligned and
/// not, several schedules, on the emulator under the checker, against the type's reference. Throws ExecutionError that
/// names type, example and finding; UserError where the type refuses its own example or there is no C++ compiler.
TypeTestResult test_type(const std::string& name, const TypeTest& test = {});

}  // namespace megakittens
