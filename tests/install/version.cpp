#include <megakittens/version.hpp>
#include <string_view>

int main() {
  return std::string_view(megakittens::version()) == MEGAKITTENS_VERSION ? 0 : 1;
}
