#include "support/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "support/error.hpp"

namespace megakittens {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }

 private:
  int value_;
};

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path) {
  throw UserError(fmt::format("cannot {} '{}': {}", what, path.string(), std::generic_category().message(errno)));
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("open", path);
  // The size is a hint only: devices and pipes have none, and a file may grow while it is read.
  std::string bytes;
  struct stat status{};
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) {
    bytes.reserve(std::min(static_cast<std::uint64_t>(status.st_size), max_bytes));
  }
  for (;;) {
    constexpr std::size_t kChunk = std::size_t{1} << 16;
    const std::size_t held = bytes.size();
    bytes.resize(held + kChunk);
    const ssize_t count = ::read(file.get(), bytes.data() + held, kChunk);
    if (count < 0 && errno != EINTR) fail("read", path);
    bytes.resize(held + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (bytes.size() > max_bytes) {
      throw CapacityError(
          fmt::format("file '{}' holds more than the {} bytes allowed for it", path.string(), max_bytes));
    }
    if (count == 0) return bytes;
  }
}

namespace {

void write_all(const Descriptor& file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) fail("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  // A device or a pipe is written to; putting a file in its place would destroy it.
  struct stat target{};
  if (::stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode)) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) fail("open", path);
    return write_all(file, bytes, path);
  }
  std::string temporary = path.string() + ".XXXXXX";
  const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail("write", path);
  const auto abandon = [&] {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    fail("write", path);
  };
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t count = ::write(file.get(), rest.data(), rest.size());
    if (count < 0 && errno != EINTR) abandon();
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  // mkostemp makes a private file; a published one has the usual rights.
  constexpr mode_t kReadableByAll = 0644;
  if (::fchmod(file.get(), kReadableByAll) != 0 || ::fsync(file.get()) != 0) abandon();
  if (::rename(temporary.c_str(), path.c_str()) != 0) abandon();
}

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
