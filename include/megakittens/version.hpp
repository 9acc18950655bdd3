// The version of the headers, and of the library that was linked; they should be the same.
#pragma once

#define MEGAKITTENS_VERSION "0.1.0"

namespace megakittens {

/// The version of the linked library, as "major.minor.patch".
const char* version();

}  // namespace megakittens
