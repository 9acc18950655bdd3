// Where the interpreter's machine code comes from, with a compiler that stands in for NVRTC and counts.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <thread>

#include "jit/cubin_cache.hpp"
#include "jit/interpreter.hpp"
#include "support/environment.hpp"
#include "support/files.hpp"
#include "support/log.hpp"
#include "support/stand_in.hpp"
#include "support/user_type.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class InterpreterCache : public testing::Test {
 protected:
  InterpreterCache()
      : folder_(
            fs::path(testing::TempDir()) /
            fmt::format("mk_cache_{}_{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name())),
        variable_("MEGAKITTENS_CACHE_DIR", folder_.string()) {
    fs::remove_all(folder_);
    set_log_sink([this](LogLevel, std::string_view, std::string_view text) { log_ += std::string(text) + "\n"; });
  }
  ~InterpreterCache() override {
    set_log_sink({});
    fs::remove_all(folder_);
  }
  fs::path only_file() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? fs::path() : files[0];
  }

  test::StandInDriver stand_in_;
  fs::path folder_;
  test::ScopedVariable variable_;
  std::string log_;
};

TEST_F(InterpreterCache, what_was_compiled_once_is_not_compiled_again) {
  const std::uint64_t before = compilation_count();
  const InterpreterCubin first = interpreter_cubin(Architecture::sm_90a);
  EXPECT_EQ(first.origin, "compiled");
  EXPECT_EQ(first.compiler, "nvrtc13.0");
  const InterpreterCubin second = interpreter_cubin(Architecture::sm_90a);
  EXPECT_EQ(second.origin, "cached");
  EXPECT_EQ(second.bytes, first.bytes);
  EXPECT_EQ(compilation_count(), before + 1);
  EXPECT_THAT(only_file().filename().string(), HasSubstr("interpreter-sm_90a-"));
}

TEST_F(InterpreterCache, a_damaged_file_is_compiled_anew_and_replaced) {
  const std::string bytes = interpreter_cubin(Architecture::sm_100a).bytes;
  std::string text = read_file(only_file(), 1 << 20);
  text.back() = static_cast<char>(text.back() ^ 1);
  write_file(only_file(), text);
  // What this process compiled it still knows.
  EXPECT_EQ(interpreter_cubin(Architecture::sm_100a).bytes, bytes);
  EXPECT_THAT(log_, HasSubstr("is damaged or cannot be read: compiling anew"));
  for (const std::string_view part : {"", "megakittens-code 1", "abc\nmegakittens-code 1 x y 3\n"}) {
    write_file(only_file(), part);
    EXPECT_EQ(interpreter_cubin(Architecture::sm_100a).bytes, bytes) << part;
  }
}

TEST_F(InterpreterCache, a_cache_that_cannot_be_written_costs_a_warning) {
  std::ofstream(folder_.string()) << "a file where the folder should be";
  const InterpreterCubin cubin = interpreter_cubin(Architecture::sm_90a);
  EXPECT_EQ(cubin.origin, "compiled");
  EXPECT_THAT(log_, HasSubstr("is not kept, and will be compiled again next time: cannot create"));
}

/// Files may be no longer than so many bytes: what a full disk does, after a part has been written.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_F(InterpreterCache, a_full_disk_costs_a_warning_and_leaves_no_part_of_a_file) {
  std::string bytes;
  {
    const FileLimit limit(10);
    const InterpreterCubin cubin = interpreter_cubin(Architecture::sm_90a);
    EXPECT_EQ(cubin.origin, "compiled");
    bytes = cubin.bytes;
  }
  EXPECT_EQ(bytes, compile(interpreter_request(Architecture::sm_90a)).cubin);
  EXPECT_THAT(log_, AllOf(HasSubstr("is not kept, and will be compiled again next time: cannot write"),
                          HasSubstr(std::generic_category().message(EFBIG))));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(InterpreterCache, several_threads_compile_once) {
  const std::uint64_t before = compilation_count();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([] { interpreter_cubin(Architecture::sm_100a); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(compilation_count(), before + 1);
}

TEST_F(InterpreterCache, a_shipped_file_has_its_sources_in_its_name_and_a_checksum) {
  const std::string name = shipped_name(Architecture::sm_90a);
  EXPECT_THAT(name, HasSubstr("interpreter-sm_90a-"));
  EXPECT_NE(name.substr(20), shipped_name(Architecture::sm_100a).substr(20));
  const std::string file = shipped_file(Architecture::sm_90a, "code");
  const std::string key = name.substr(19, 32);
  EXPECT_EQ(unpack(key, file), "code") << name;
  EXPECT_EQ(unpack(key, file + "x"), std::nullopt);
  EXPECT_EQ(unpack("another", file), std::nullopt);
}

TEST_F(InterpreterCache, everything_that_decides_the_machine_code_is_in_the_key) {
  const CompileRequest request = interpreter_request(Architecture::sm_90a);
  std::set<std::string> keys = {key_of_request(request).digest().hex()};
  auto is_new = [&](const Hasher& hasher) { return keys.insert(hasher.digest().hex()).second; };
  auto changed = [&](auto&& change) {
    CompileRequest other = request;
    change(other);
    return is_new(key_of_request(other));
  };
  EXPECT_FALSE(is_new(key_of_request(request)));
  EXPECT_TRUE(is_new(key_of_request(request, "the carried headers after a change")));
  EXPECT_TRUE(changed([](CompileRequest& r) { r.source += " "; }));
  EXPECT_TRUE(changed([](CompileRequest& r) { r.architecture = Architecture::sm_100a; }));
  EXPECT_TRUE(changed([](CompileRequest& r) { r.definitions = {"NAME=1"}; }));
  EXPECT_TRUE(changed([](CompileRequest& r) { r.definitions = {"NAME=2"}; }));
  EXPECT_TRUE(changed([](CompileRequest& r) { r.include_folders = {"/folder"}; }));
  EXPECT_TRUE(changed([](CompileRequest& r) { r.line_info = true; }));
  EXPECT_TRUE(changed([](CompileRequest& r) { r.edited_headers["device/machine.cuh"] = "// another"; }));
}

TEST_F(InterpreterCache, more_machine_code_than_the_request_allows_is_refused) {
  CompileRequest request = interpreter_request(Architecture::sm_90a);
  const std::size_t bytes = compile(request).cubin.size();
  request.max_code_bytes = bytes;
  EXPECT_NO_THROW(compile(request));
  request.max_code_bytes = bytes - 1;
  EXPECT_THAT(test::text_of_error<CompileError>([&] { compile(request); }),
              HasSubstr(fmt::format("the interpreter compiles for sm_90a, but into {} bytes of machine code, which "
                                    "is more than the {} allowed for it",
                                    bytes, bytes - 1)));
  request.max_code_bytes = 0;
  EXPECT_NO_THROW(compile(request));
}

}  // namespace
}  // namespace megakittens::jit
