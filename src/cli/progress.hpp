// What long work is at, on standard error where that is a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace megakittens::cli {

/// Shows one line with the stage and the seconds it has taken so far, and removes it at the end.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void stage(const std::string& what);
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
  bool ended_ = false;
  std::thread watcher_;
};

}  // namespace megakittens::cli
