// A library that is no plug-in.
extern "C" __attribute__((visibility("default"))) int forty_two() {
  return 42;
}
