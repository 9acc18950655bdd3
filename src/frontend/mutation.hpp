// Turning functional updates back into writes in place: who still reads a storage decides.
#pragma once

#include "frontend/context.hpp"

namespace megakittens::frontend {

/// Calls after position `after` that read the storage which node `owner` owns, through whatever views.
std::vector<int> later_readers(const Context& context, int owner, int after);

/// Copying cannot be left out: the function returns the copy, or the source is an input that the graph overwrites.
bool is_observed(const Context& context, int index, const TensorSymbol& source);

/// The input that node `owner` stands for is written by a copy_ at the end.
bool is_written_back(const Context& context, int owner);

}  // namespace megakittens::frontend
