#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/files.hpp"

#include <gmock/gmock.h>

#include <iterator>

#include "support/error.hpp"

namespace megakittens {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Files : public ::testing::Test {
 protected:
  Files() : folder_(std::filesystem::path(::testing::TempDir()) / "megakittens_files_test_XXXXXX") {
    std::string name = folder_.string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, what_is_written_is_read_back_whole) {
  std::string bytes(200'000, 'x');
  bytes[100] = '\0';
  bytes[150'000] = '\n';
  write_file(folder_ / "a", bytes);
  EXPECT_EQ(read_file(folder_ / "a", bytes.size()), bytes);
}

TEST_F(Files, writing_replaces_the_file_and_leaves_nothing_beside_it) {
  write_file(folder_ / "a", "old and longer");
  write_file(folder_ / "a", "new");
  EXPECT_EQ(read_file(folder_ / "a", 100), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, a_file_past_the_limit_is_refused_with_its_path_and_the_limit) {
  write_file(folder_ / "a", "12345");
  EXPECT_EQ(read_file(folder_ / "a", 5), "12345");
  EXPECT_THAT([&] { read_file(folder_ / "a", 4); },
              ThrowsMessage<CapacityError>(AllOf(HasSubstr("/a'"), HasSubstr("more than the 4 bytes"))));
}

TEST_F(Files, a_file_that_cannot_be_opened_or_written_is_named_with_the_reason) {
  EXPECT_THAT([&] { read_file(folder_ / "none", 1); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("cannot open"), HasSubstr("No such file"))));
  EXPECT_THAT([&] { write_file(folder_ / "none" / "a", "x"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("cannot write"), HasSubstr("No such file"))));
  EXPECT_THAT([&] { read_file(folder_, 1); }, ThrowsMessage<UserError>(HasSubstr("Is a directory")));
}

TEST_F(Files, a_pipe_is_written_to_and_stays_a_pipe) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(pipe, "hello");
  char bytes[8] = {};
  EXPECT_EQ(::read(reader, bytes, sizeof(bytes)), 5);
  EXPECT_STREQ(bytes, "hello");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  ::close(reader);
}

}  // namespace
}  // namespace megakittens
