// What long work is at, on standard error where that is a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace megakittens::cli {

/// Shows one line with the stage and the seconds it has taken so far, and removes it at the end. Where standard error
/// is no terminal, only count() shows something: a line every ten seconds.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void stage(const std::string& what);
  /// The stage counts things: `done` of `total`, with a bar. `note` is told behind it.
  void count(const std::string& what, std::uint64_t done, std::uint64_t total, const std::string& note);
  /// Removes the line; the next stage shows it again.
  void pause();

 private:
  void watch();
  void show();
  void erase();

  const bool shown_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  // guarded by mutex_, as all below; empty: no line
  std::chrono::steady_clock::time_point since_;
  std::chrono::steady_clock::time_point last_line_;
  bool ended_ = false;
  std::thread watcher_;
};

}  // namespace megakittens::cli
