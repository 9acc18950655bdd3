#include <cstring>

#include "emulator/explorer.hpp"
#include "support/error.hpp"
#include "support/hash.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::size_t kAlignment = 128;

/// Bytes that begin at a multiple of 128, so that lines of memory fall alike in every run.
class Block {
 public:
  explicit Block(std::size_t bytes) : memory_(bytes + kAlignment), bytes_(bytes) {}
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<std::byte> memory_;
  std::size_t bytes_;
};

}  // namespace

struct Rehearsal::State {
  const program::Program& program;
  const StorageContents& inputs;
  Workspace workspace;
  std::vector<Block> blocks;  // by storage; empty for workspaces
  std::vector<void*> bases;

  State(const program::Program& p, const StorageContents& i) : program(p), inputs(i), workspace(p) {}
};

Rehearsal::Rehearsal(const program::Program& program, const StorageContents& inputs)
    : state_(std::make_unique<State>(program, inputs)) {
  MK_CHECK(inputs.size() == program.storages.size(), "{} storages given, the program has {}", inputs.size(),
           program.storages.size());
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    const program::Storage& storage = program.storages[s];
    const bool input = storage.kind == program::StorageKind::input;
    if (input && inputs[s].size() != storage.bytes)
      throw UserError(fmt::format("input '{}' needs a storage of {} bytes, {} were given", storage.name, storage.bytes,
                                  inputs[s].size()));
    state_->blocks.emplace_back(storage.kind == program::StorageKind::workspace ? 0 : storage.bytes);
    if (input && storage.bytes > 0) std::memcpy(state_->blocks.back().data(), inputs[s].data(), storage.bytes);
  }
  for (Block& block : state_->blocks) state_->bases.push_back(block.data());
}

Rehearsal::~Rehearsal() = default;

Report Rehearsal::run(const RunOptions& options) {
  State& s = *state_;
  for (std::size_t i = 0; i < s.inputs.size(); ++i)
    if (s.program.storages[i].mutated && !s.inputs[i].empty())
      std::memcpy(s.blocks[i].data(), s.inputs[i].data(), s.inputs[i].size());
  s.workspace.reset();
  if (options.arithmetic) {  // results of the run before must not pass for this one's
    s.workspace.poison();
    for (std::size_t i = 0; i < s.blocks.size(); ++i)
      if (s.program.storages[i].kind == program::StorageKind::output)
        std::memset(s.blocks[i].data(), 0xff, s.blocks[i].bytes());
  }
  return s.workspace.launch(s.bases, options);
}

std::uint64_t Rehearsal::results_hash() const {
  Hasher hasher;
  for (std::size_t i = 0; i < state_->blocks.size(); ++i) {
    const program::Storage& storage = state_->program.storages[i];
    if (storage.kind == program::StorageKind::output || storage.mutated)
      hasher.add_bytes({static_cast<const std::byte*>(state_->bases[i]), state_->blocks[i].bytes()});
  }
  return hasher.digest().low;
}

}  // namespace megakittens::emulator
