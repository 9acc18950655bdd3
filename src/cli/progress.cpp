#include "cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace megakittens::cli {

Progress::Progress() : shown_(::isatty(STDERR_FILENO) == 1) {
  if (shown_) watcher_ = std::thread([this] { watch(); });
}

Progress::~Progress() {
  if (!shown_) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    erase();
  }
  changed_.notify_one();
  watcher_.join();
}

void Progress::stage(const std::string& what) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  erase();
  what_ = what;
  since_ = std::chrono::steady_clock::now();
  show();
}

void Progress::pause() {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  erase();
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    changed_.wait_for(lock, std::chrono::milliseconds(500));
    if (!ended_ && !what_.empty()) show();
  }
}

void Progress::show() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  std::fprintf(stderr, "\r\033[K%s ... %.0f s", what_.c_str(), seconds);
  std::fflush(stderr);
}

void Progress::erase() {
  if (what_.empty()) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  what_.clear();
}

}  // namespace megakittens::cli
