// Streams, events and graphs that are given back. The context is current.
#pragma once

#include "runtime/driver.hpp"

namespace megakittens::runtime {

/// A stream of its own, which does not wait for the default one.
class Stream {
 public:
  Stream() {
    constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
    MK_CUDA(stream_create(&stream_, kNonBlocking));
  }
  ~Stream() { driver().stream_destroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  CuStream get() const { return stream_; }

 private:
  CuStream stream_ = nullptr;
};

/// What a stream has captured, ready for replays.
class CapturedGraph {
 public:
  /// Ends the stream's capture.
  explicit CapturedGraph(CuStream capturing) {
    MK_CUDA(stream_end_capture(capturing, &graph_));
    MK_CUDA(graph_instantiate(&replay_, graph_, 0));
  }
  ~CapturedGraph() {
    driver().graph_exec_destroy(replay_);
    driver().graph_destroy(graph_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  void replay(CuStream stream) const { MK_CUDA(graph_launch(replay_, stream)); }
  CuGraph get() const { return graph_; }

 private:
  CuGraph graph_ = nullptr;
  CuGraphExec replay_ = nullptr;
};

/// An event that takes the time.
class Event {
 public:
  Event() { MK_CUDA(event_create(&event_, 0)); }
  ~Event() { driver().event_destroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  CuEvent get() const { return event_; }

 private:
  CuEvent event_ = nullptr;
};

}  // namespace megakittens::runtime
