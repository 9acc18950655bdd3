#include "support/error.hpp"

namespace megakittens {

void internal_error(const char* condition, const std::string& message, std::source_location where) {
  throw InternalError(fmt::format(
      "internal error: {} (condition '{}' failed at {}:{}). This is a defect of megakittens; please report it.",
      message, condition, where.file_name(), where.line()));
}

}  // namespace megakittens
