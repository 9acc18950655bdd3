#include "support/temporary_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "support/error.hpp"

namespace megakittens {

TemporaryFolder::TemporaryFolder() : owner_(::getpid()) {
  const char* wanted = std::getenv("TMPDIR");
  const std::filesystem::path parent = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
  std::string name = (parent / "megakittens.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw UserError(fmt::format("cannot make a temporary folder in '{}': {}; TMPDIR names another place",
                                parent.string(), std::generic_category().message(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (owner_ == ::getpid()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace megakittens
