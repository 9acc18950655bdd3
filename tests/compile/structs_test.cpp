// The structs that host and device share have one definition; here both compilers say what they make of it.
#include <gtest/gtest.h>

#include "device/tensor_map.hpp"
#include "jit/compile.hpp"
#include "program/launch.hpp"
#include "support/nvrtc.hpp"

namespace megakittens::jit {
namespace {

template <class T>
std::string size_and_alignment(const char* name) {
  return fmt::format("static_assert(sizeof({0}) == {1} && alignof({0}) == {2}, \"{0}\");\n", name, sizeof(T),
                     alignof(T));
}

std::string offset(const char* type, const char* field, std::size_t bytes) {
  return fmt::format("static_assert(__builtin_offsetof({0}, {1}) == {2}, \"{0}::{1}\");\n", type, field, bytes);
}

void compile_for_device(const std::string& asserts) {
  CompileRequest request;
  request.source =
      "#include \"program/launch.hpp\"\n#include \"device/tensor_map.hpp\"\nusing namespace megakittens::program;\n"
      "using megakittens::device::TensorMap;\n" +
      asserts;
  request.include_folders = {MK_SOURCE_DIR "/src"};
  compile(request);
}

TEST(Structs, host_and_device_disagree_on_a_struct) {
  MK_NEEDS_NVRTC();
  using namespace program;
  std::string asserts = size_and_alignment<Instruction>("Instruction") + size_and_alignment<Wait>("Wait") +
                        size_and_alignment<NodeRecord>("NodeRecord") +
                        size_and_alignment<OperandRecord>("OperandRecord") + size_and_alignment<CodeWord>("CodeWord") +
                        size_and_alignment<Control>("Control") + size_and_alignment<AbortRecord>("AbortRecord") +
                        size_and_alignment<LaunchParameters>("LaunchParameters") +
                        size_and_alignment<device::TensorMap>("TensorMap");
#define MK_OFFSET(type, field) asserts += offset(#type, #field, __builtin_offsetof(type, field))
  MK_OFFSET(Instruction, waits);
  MK_OFFSET(Instruction, arrivals);
  MK_OFFSET(Instruction, release_order);
  MK_OFFSET(NodeRecord, operands);
  MK_OFFSET(NodeRecord, constants);
  MK_OFFSET(NodeRecord, code);
  MK_OFFSET(OperandRecord, offset);
  MK_OFFSET(OperandRecord, strides);
  MK_OFFSET(Control, record);
  MK_OFFSET(LaunchParameters, counters);
  MK_OFFSET(LaunchParameters, wait_limit);
  MK_OFFSET(LaunchParameters, alarm);
  MK_OFFSET(LaunchParameters, storage_of_call);
  MK_OFFSET(LaunchParameters, map_of_call);
#undef MK_OFFSET
  EXPECT_NO_THROW(compile_for_device(asserts));
  EXPECT_THROW(compile_for_device("static_assert(sizeof(Wait) == 16);\n"), CompileError) << "the check cannot fail";
}

}  // namespace
}  // namespace megakittens::jit
