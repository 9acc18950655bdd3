// Users' instruction types of this process. Safe from several threads.
#pragma once

#include "ops/user/user_type.hpp"

namespace megakittens::ops {

/// Throws UserError where the name or the operation is taken. A name keeps its icode for the life of the process. What
/// was registered once is never destroyed: programs that are running may still ask it.
const UserType& register_user_type(std::shared_ptr<megakittens::InstructionType> host);
/// Throws UserError where there is none of that name.
void unregister_user_type(const std::string& name);

/// Those that are registered now, in the order of their icodes.
std::vector<const UserType*> user_types();
/// Null where there is none.
const UserType* user_type_named(const std::string& name);
const UserType* user_type_for(const std::string& target);
/// Also one that was unregistered: loaded programs go on with it. Throws FormatError for a number that none has had.
const UserType& user_type_of_icode(std::uint16_t icode);
/// "unknown" for a number that none has had.
std::string_view user_icode_name(std::uint16_t icode);
std::uint16_t user_icode_end();

/// Fills program.types from the icodes of its nodes, and calls those nodes by their types' names.
void name_user_types(program::Program& program);
/// Gives a program from a file the icodes that its types have in this process. Throws UserError naming the type and
/// what to do where it is not registered or its device half is another one, FormatError for an icode that the file does
/// not name.
void adopt_user_types(program::Program& program);
/// The device halves of program.types. Throws UserError as adopt_user_types, also where the type's files were edited
/// since it was registered.
std::vector<DeviceHalf> device_halves(const program::Program& program);

}  // namespace megakittens::ops
