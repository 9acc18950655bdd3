// Where NVRTC is looked for, and in which order: on trees of empty files.
#include "jit/nvrtc.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/environment.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class Locate : public testing::Test {
 protected:
  Locate()
      : root_(fs::path(testing::TempDir()) / fmt::format("mk_locate_{}", ::getpid())), before_(fs::current_path()) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    root_ = fs::canonical(root_);
    fs::current_path(root_);
  }
  ~Locate() override {
    fs::current_path(before_);
    fs::remove_all(root_);
  }

  void make(const fs::path& file) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "";
  }
  /// The candidates in this tree, in their order and without its path. Left out is what the machine has besides, and
  /// what lies above this program, whose path the loader knows as it was started: a relative one leads here, too.
  std::vector<std::string> found() const {
    std::vector<std::string> paths;
    for (const Candidate& candidate : nvrtc_candidates())
      if (const std::string path = candidate.library.string();
          path.starts_with(root_.string()) && !candidate.reason.ends_with("above this library"))
        paths.push_back(path.substr(root_.string().size() + 1));
    return paths;
  }
  std::string reason_of(const fs::path& file) const {
    for (const Candidate& candidate : nvrtc_candidates())
      if (candidate.library == root_ / file) return candidate.reason;
    return "not found";
  }

  fs::path root_;

 private:
  fs::path before_;
  test::ScopedVariable nvrtc_{"MEGAKITTENS_NVRTC", ""}, home_{"CUDA_HOME", ""}, path_{"CUDA_PATH", ""},
      environment_{"VIRTUAL_ENV", ""};
};

TEST_F(Locate, an_empty_tree_has_nothing_and_the_loaders_path_is_last) {
  EXPECT_THAT(found(), IsEmpty());
  const std::vector<Candidate> candidates = nvrtc_candidates();
  ASSERT_GE(candidates.size(), 3u);
  for (std::size_t i = candidates.size() - 3; i < candidates.size(); ++i)
    EXPECT_EQ(candidates[i].reason, "the loader's path");
}

TEST_F(Locate, the_newest_of_a_folder_is_taken) {
  const test::ScopedVariable home("CUDA_HOME", root_ / "cuda");
  make("cuda/lib64/libnvrtc.so");
  EXPECT_THAT(found(), ElementsAre("cuda/lib64/libnvrtc.so"));
  make("cuda/lib64/libnvrtc.so.12");
  EXPECT_THAT(found(), ElementsAre("cuda/lib64/libnvrtc.so.12"));
  make("cuda/lib64/libnvrtc.so.13");
  EXPECT_THAT(found(), ElementsAre("cuda/lib64/libnvrtc.so.13"));
}

TEST_F(Locate, toolkits_come_before_the_active_environment_and_that_before_what_lies_above_the_working_folder) {
  const test::ScopedVariable home("CUDA_HOME", root_ / "home"), path("CUDA_PATH", root_ / "path"),
      environment("VIRTUAL_ENV", root_ / "active");
  make(".venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  make("active/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  make("path/lib64/libnvrtc.so.13");
  make("home/lib64/libnvrtc.so.12");
  EXPECT_THAT(found(), ElementsAre("home/lib64/libnvrtc.so.12", "path/lib64/libnvrtc.so.13",
                                   "active/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
                                   ".venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
  EXPECT_EQ(reason_of("home/lib64/libnvrtc.so.12"), "environment variable CUDA_HOME");
  EXPECT_EQ(reason_of("path/lib64/libnvrtc.so.13"), "environment variable CUDA_PATH");
  EXPECT_EQ(reason_of("active/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"),
            "active virtual environment");
  EXPECT_EQ(reason_of(".venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"),
            ".venv above the working folder");
}

TEST_F(Locate, an_environments_packages_are_cuda_13s_then_cuda_12s_then_pytorchs_in_both_names_of_their_folder) {
  const test::ScopedVariable environment("VIRTUAL_ENV", root_ / "active");
  for (const char* site : {"dist-packages", "site-packages"}) {
    const fs::path folder = fs::path("active/lib/python3.11") / site;
    make(folder / "torch/lib/libnvrtc.so.12");
    make(folder / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    make(folder / "nvidia/cu13/lib/libnvrtc.so.13");
  }
  make("active/lib/other/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_THAT(found(), ElementsAre("active/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
                                   "active/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                                   "active/lib/python3.11/site-packages/torch/lib/libnvrtc.so.12",
                                   "active/lib/python3.11/dist-packages/nvidia/cu13/lib/libnvrtc.so.13",
                                   "active/lib/python3.11/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                                   "active/lib/python3.11/dist-packages/torch/lib/libnvrtc.so.12"));
}

TEST_F(Locate, the_nearest_environment_and_packages_above_the_working_folder_come_first) {
  make(".venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  make("a/.venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  make("a/dist-packages/nvidia/cu13/lib/libnvrtc.so.13");
  fs::create_directories(root_ / "a/dist-packages/megakittens");
  fs::current_path(root_ / "a/dist-packages/megakittens");
  EXPECT_THAT(found(), ElementsAre("a/dist-packages/nvidia/cu13/lib/libnvrtc.so.13",
                                   "a/.venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                                   ".venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
  EXPECT_EQ(reason_of("a/dist-packages/nvidia/cu13/lib/libnvrtc.so.13"), "dist-packages above the working folder");
}

TEST_F(Locate, our_own_variable_is_the_only_place_where_it_is_set) {
  const test::ScopedVariable home("CUDA_HOME", root_ / "home");
  make("home/lib64/libnvrtc.so.13");
  make("own/libnvrtc.so.12");
  {
    const test::ScopedVariable folder("MEGAKITTENS_NVRTC", root_ / "own");
    EXPECT_THAT(found(), ElementsAre("own/libnvrtc.so.12"));
    EXPECT_EQ(nvrtc_candidates().size(), 1u);
  }
  const test::ScopedVariable file("MEGAKITTENS_NVRTC", root_ / "own/another.so");
  EXPECT_THAT(found(), ElementsAre("own/another.so"));
  EXPECT_EQ(nvrtc_candidates().size(), 1u);
}

}  // namespace
}  // namespace megakittens::jit
