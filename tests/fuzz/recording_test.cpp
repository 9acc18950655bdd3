#include <gtest/gtest.h>

#include "emulator/recording.hpp"
#include "support/mutate.hpp"

namespace megakittens::emulator {
namespace {

TEST(RecordingFuzz, a_damaged_recording_is_refused_or_read) {
  const Recording recording{.program = "mlp",
                            .program_hash = "0123456789abcdef0123456789abcdef",
                            .finding = "not-released",
                            .faults = {"wait-forgotten", "mbarrier.try_wait:role=storer"},
                            .seed = 12,
                            .input_seed = 3,
                            .arithmetic = true,
                            .strict = false,
                            .moves = {{{0, 11, 0}, 4}, {{3, 9, 17}, 0}, {{1, 0, 0}, 0}}};
  test::fuzz(to_json(recording), [](const std::string& text) {
    const Recording read = recording_from_json(text, "recording");
    EXPECT_EQ(recording_from_json(to_json(read), "again"), read);
  });
}

}  // namespace
}  // namespace megakittens::emulator
