#include "emulator/explorer.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "emulator/kernels.hpp"
#include "emulator/stack_pool.hpp"
#include "support/error.hpp"
#include "support/log.hpp"

namespace megakittens::emulator {
namespace {

/// Alike for findings of one rule by the same roles on the same memory.
std::string likeness(const Finding& finding) {
  std::string key = fmt::format("{} {}", text_of(finding.rule).name, finding.buffer);
  for (const Party& party : finding.parties) key += fmt::format(" {} {}", party.role, party.write);
  return key;
}

/// Shared by the threads of one exploration.
class Collector {
 public:
  Collector(const program::Program& program, const ExploreOptions& options) : program_(program), options_(options) {}

  /// The next schedule's number, or nothing.
  std::optional<std::uint64_t> next() {
    const std::uint64_t number = next_++;
    if (number >= options_.schedules || stop_) return {};
    return number;
  }

  void add(std::uint64_t number, const Report& report, std::optional<std::uint64_t> results) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t seed = options_.first_seed + number;
    bool failed = !report.ok();
    for (const Finding& finding : report.findings)
      note(likeness(finding), text_of(finding.rule).name, text_of(finding.rule).row, seed,
           [&] { return explain(finding, program_); });
    if (!report.deadlock.empty())
      note("deadlock", "deadlock", 0, seed, [&] { return explain(report.deadlock, program_); });
    if (!report.exception.empty())
      note("exception", "exception", 0, seed, [&] { return explain(report.exception, program_); });
    if (report.step_limit_reached)
      note("step limit", "step limit", 0, seed, [&] { return fmt::format("stopped after {} steps\n", report.steps); });
    if (report.ok() && results) {
      if (!results_) results_ = results;
      if (*results_ != *results) {
        failed = true;
        note("results", "results", 0, seed, [] { return "[results] the results depend on the schedule\n"; });
      }
    }
    exploration_.schedules++;
    exploration_.steps += report.steps;
    if (failed) {
      exploration_.failing++;
      const std::uint64_t known = exploration_.first_failure.value_or(number + 1);
      exploration_.first_failure = std::min(known, number + 1);
      if (options_.stop_at_first) stop_ = true;
    }
    if (options_.progress) options_.progress(exploration_.schedules, exploration_.found.size());
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr) error_ = std::move(error);
    stop_ = true;
  }

  Exploration take() {
    if (error_ != nullptr) std::rethrow_exception(error_);
    return std::move(exploration_);
  }

 private:
  template <class Text>
  void note(const std::string& key, const char* name, int row, std::uint64_t seed, const Text& text) {
    const auto known = std::ranges::find(keys_, key);
    if (known != keys_.end()) {
      Found& found = exploration_.found[static_cast<std::size_t>(known - keys_.begin())];
      found.schedules++;
      if (seed < found.seed) found.seed = seed, found.text = text();
      return;
    }
    keys_.push_back(key);
    exploration_.found.push_back({name, row, text(), seed});
  }

  const program::Program& program_;
  const ExploreOptions& options_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  Exploration exploration_;  // guarded by mutex_, as all below
  std::vector<std::string> keys_;
  std::optional<std::uint64_t> results_;
  std::exception_ptr error_;
};

void work(const program::Program& program, const StorageContents& inputs, RunOptions run, std::uint64_t first_seed,
          Collector& collector) try {
  Rehearsal rehearsal(program, inputs);
  while (const std::optional<std::uint64_t> number = collector.next()) {
    run.seed = first_seed + *number;
    const Report report = rehearsal.run(run);
    collector.add(*number, report, run.arithmetic ? std::optional(rehearsal.results_hash()) : std::nullopt);
  }
} catch (...) {
  collector.fail(std::current_exception());
}

/// As many as wanted, unless their stacks need more memory maps than a process may have.
unsigned threads_for(const program::Program& program, const ExploreOptions& options) {
  const unsigned wanted = options.threads == 0 ? std::max(1u, std::thread::hardware_concurrency()) : options.threads;
  if (wanted == 1) return 1;
  const std::size_t stacks = std::size_t{program.config.sms} * kernel_for(program).warps;
  const std::size_t most = max_maps();
  const unsigned fit = threads_that_fit(stacks, guards_of_this_host(), maps_in_use(), most);
  if (fit >= wanted) return wanted;
  log(LogLevel::warning, "emulator",
      "{} threads instead of {}: stacks of more need more memory maps than vm.max_map_count = {} allows", fit, wanted,
      most);
  return fit;
}

}  // namespace

bool Exploration::has(std::string_view name) const {
  return std::ranges::any_of(found, [&](const Found& one) { return one.name == name; });
}

std::uint64_t Exploration::schedules_until(std::span<const std::string_view> names, std::uint64_t first_seed) const {
  std::uint64_t least = 0;
  for (const Found& one : found) {
    if (std::ranges::find(names, one.name) == names.end()) continue;
    const std::uint64_t took = one.seed - first_seed + 1;
    least = least == 0 ? took : std::min(least, took);
  }
  return least;
}

Exploration explore(const program::Program& program, const StorageContents& inputs, const ExploreOptions& options) {
  Collector collector(program, options);
  RunOptions run = options.run;
  run.interleaving.record = false;
  if (run.interleaving.strategy == Strategy::pct && run.interleaving.expected_steps == 0) {
    RunOptions first = run;
    first.interleaving = {};
    run.interleaving.expected_steps = Rehearsal(program, inputs).run(first).steps;
  }
  const unsigned threads = threads_for(program, options);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads && i < options.schedules; i++)
    others.emplace_back([&] { work(program, inputs, run, options.first_seed, collector); });
  work(program, inputs, run, options.first_seed, collector);
  for (std::thread& thread : others) thread.join();
  Exploration exploration = collector.take();
  exploration.expected_steps = run.interleaving.expected_steps;
  return exploration;
}

Exploration explore_once(const program::Program& program, Rehearsal& rehearsal, const RunOptions& run) {
  ExploreOptions options;
  options.schedules = 1;
  options.first_seed = run.seed;
  Collector collector(program, options);
  collector.add(0, rehearsal.run(run), {});
  return collector.take();
}

}  // namespace megakittens::emulator
