#include "megakittens/version.hpp"

namespace megakittens {

const char* version() {
  return MEGAKITTENS_VERSION;
}

}  // namespace megakittens
