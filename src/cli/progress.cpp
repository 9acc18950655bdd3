#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace megakittens::cli {
namespace {

constexpr std::size_t kBarWidth = 30;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPeriod{10};

}  // namespace

Progress::Progress()
    : shown_(::isatty(STDERR_FILENO) == 1), since_(std::chrono::steady_clock::now()), last_line_(since_) {
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

void Progress::count(const std::string& what, std::uint64_t done, std::uint64_t total, const std::string& note) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  if (shown_) {
    const std::size_t filled = total == 0 ? kBarWidth : static_cast<std::size_t>(done * kBarWidth / total);
    const bool fresh = what_.empty();
    what_ = fmt::format("{} [{}{}] {}/{}{}", what, std::string(filled, '#'), std::string(kBarWidth - filled, '.'), done,
                        total, note);
    if (fresh) since_ = now;
    if (!fresh && now - last_line_ < kRedraw) return;
    show();
  } else {
    if (now - last_line_ < kPeriod) return;
    std::fputs(fmt::format("{}: {} of {}{}, {:.0f} s\n", what, done, total, note,
                           std::chrono::duration<double>(now - since_).count())
                   .c_str(),
               stderr);
  }
  last_line_ = now;
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
