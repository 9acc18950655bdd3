#include "runtime/cuda_program.hpp"

#include <algorithm>

#include "emulator/workspace.hpp"
#include "runtime/host_run.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "support/options.hpp"

namespace megakittens::runtime {
namespace {

constexpr int kCapturing = 1;               // CU_STREAM_CAPTURE_STATUS_ACTIVE
constexpr std::ptrdiff_t kManyPlaces = 16;  // from here on, workspaces of streams without work are used again

void expect_fit(const program::Program& program, const CudaDevice& device) {
  const program::Config& config = program.config;
  if (config.architecture != device.architecture())
    throw UserError(fmt::format("program '{}' is made for {}, GPU {} '{}' is {}", program.name,
                                program::name_of(config.architecture), device.ordinal(), device.name(),
                                program::name_of(device.architecture())));
  if (config.sms > device.sms())
    throw CapacityError(fmt::format("program '{}' is made for {} multiprocessors, GPU {} '{}' has {}", program.name,
                                    config.sms, device.ordinal(), device.name(), device.sms()));
  program::expect_interpreter(config);
}

/// Number of the capture that the stream is part of, or 0.
std::uint64_t capture_of(CuStream stream) {
  int status = 0;
  std::uint64_t capture = 0;
  MK_CUDA(stream_get_capture_info(stream, &status, &capture, nullptr, nullptr, nullptr));
  return status == kCapturing ? capture : 0;
}

}  // namespace

CudaProgram::CudaProgram(program::Program program, CudaDevice& device, const std::vector<bool>& bound)
    : program_(std::move(program)),
      device_(device),
      outputs_(output_storages(program_)),
      blocking_(flag_option(Knob::blocking)) {
  program::verify_bounds(program_);
  program::expect_served(program_);
  RelaxedCapture relaxed;
  ContextScope scope(device_.context());
  expect_fit(program_, device_);
  uploaded_ = std::make_unique<UploadedProgram>(program_, device_, bound);
}

CudaProgram::~CudaProgram() {
  end();
}

void CudaProgram::end() {
  if (std::ranges::any_of(places_, [](const Place& place) { return place.capture != 0; })) {
    // Nobody tells whether the graph still lives, which would replay on memory that is another's. A clean end is
    // close().
    keep_for_graphs();
    return;
  }
  try {
    close();
  } catch (const std::exception& error) {
    log(LogLevel::warning, "runtime", "while closing program '{}': {}", program_.name, error.what());
  }
}

void CudaProgram::keep_for_graphs() {
  struct Kept {
    std::deque<Place> places;
    std::unique_ptr<UploadedProgram> uploaded;
  };
  static std::mutex mutex;
  static auto& kept = *new std::vector<Kept>;  // outlives the driver, which takes the memory with the process
  const std::scoped_lock lock(mutex);
  kept.push_back({.places = std::move(places_), .uploaded = std::move(uploaded_)});
}

void CudaProgram::close() {
  std::unique_lock alone(life_);
  if (!uploaded_) return;
  RelaxedCapture relaxed;
  ContextScope scope(device_.context());
  if (!places_.empty()) MK_CUDA(ctx_synchronize());
  places_.clear();
  uploaded_.reset();
}

void CudaProgram::expect_open() const {
  if (!uploaded_)
    throw UserError(fmt::format("program '{}' was closed: its memory has gone back to the GPU", program_.name));
}

void CudaProgram::launch(CuStream stream, std::span<const CuPointer> inputs, std::span<const CuPointer> outputs) {
  MK_CHECK(inputs.size() == program_.inputs.size() && outputs.size() == outputs_.size(),
           "{} inputs and {} outputs, the program has {} and {}", inputs.size(), outputs.size(), program_.inputs.size(),
           outputs_.size());
  thread_local std::vector<CuPointer> storages;
  storages.assign(program_.storages.size(), 0);
  for (std::size_t i = 0; i < inputs.size(); ++i) storages[program_.inputs[i].storage] = inputs[i];
  for (std::size_t k = 0; k < outputs.size(); ++k) storages[outputs_[k]] = outputs[k];
  for (bool launched = false; !launched; check()) {
    std::shared_lock together(life_);
    expect_open();
    if (uploaded_->alarm.value() != 0) {
      // What clearing up needs would break the capture.
      ContextScope scope(device_.context());
      if (capture_of(stream) != 0)
        throw ExecutionError(fmt::format(
            "program '{}' gave up on GPU {} in a launch before this capture: end the capture, and synchronize() or the "
            "next call tells why and makes it right again",
            program_.name, device_.ordinal()));
      continue;
    }
    launch_on(stream, storages);
    launched = true;
    if (!blocking_) break;
  }
}

/// A thread's launch on a place, from when it is found until the launch is on its way.
class CudaProgram::Use {
 public:
  Use(CudaProgram& program, CuStream stream) : program_(program), place_(program.take_place(stream)) {}
  ~Use() {
    const std::scoped_lock lock(program_.places_mutex_);
    --place_.users;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  const Place& place() const { return place_; }

 private:
  CudaProgram& program_;
  Place& place_;
};

void CudaProgram::launch_on(CuStream stream, std::span<const CuPointer> storages) {
  const ContextScope scope(device_.context());
  const Use use(*this, stream);
  use.place().workspace->launch(stream, storages);
  if (blocking_ && use.place().capture == 0) MK_CUDA(stream_synchronize(stream));
}

CudaProgram::Place& CudaProgram::take_place(CuStream stream) {
  const std::uint64_t capture = capture_of(stream);
  const bool capturing = capture != 0;
  // A capturing stream may not be asked for its number; within one capture its handle tells it apart.
  unsigned long long number = capturing ? reinterpret_cast<std::uintptr_t>(stream) : 0;
  if (!capturing && stream != nullptr) MK_CUDA(stream_get_id(stream, &number));

  const std::scoped_lock lock(places_mutex_);
  const auto used = [](Place& place) -> Place& {
    ++place.users;
    return place;
  };
  for (Place& place : places_)
    if (place.stream == number && place.capture == capture) return used(place);
  const RelaxedCapture relaxed;
  const auto of_streams = std::ranges::count(places_, std::uint64_t{0}, &Place::capture);
  if (!capturing && of_streams >= kManyPlaces)
    for (Place& place : places_)
      if (place.capture == 0 && place.users == 0 && place.workspace->idle()) {
        place.stream = number;
        return used(place);
      }
  return used(places_.emplace_back(Place{
      .stream = number, .capture = capture, .workspace = std::make_unique<CudaWorkspace>(*uploaded_, capturing)}));
}

void CudaProgram::check() {
  {
    std::shared_lock together(life_);
    if (!uploaded_ || uploaded_->alarm.value() == 0) return;
  }
  clear_up();
}

void CudaProgram::synchronize() {
  {
    std::shared_lock together(life_);
    expect_open();
    ContextScope scope(device_.context());
    MK_CUDA(ctx_synchronize());
  }
  check();
}

void CudaProgram::clear_up() {
  std::unique_lock alone(life_);
  expect_open();
  if (uploaded_->alarm.value() == 0) return;  // another thread was first, and tells
  RelaxedCapture relaxed;
  ContextScope scope(device_.context());
  // Launches behind the one that gave up return at once; none may be left when the words are cleared.
  MK_CUDA(ctx_synchronize());
  std::string text;
  for (const Place& place : places_) {
    const program::Control control = place.workspace->control();
    if (control.abort == 0) continue;
    if (text.empty()) text = emulator::describe(control.record, program_);
    place.workspace->reset();
  }
  uploaded_->alarm.set(0);
  throw ExecutionError(fmt::format(
      "program '{}' gave up on GPU {}: {}. Results of the calls since then are worthless; the next call is right again",
      program_.name, device_.ordinal(), text.empty() ? "no record was left" : text));
}

void CudaProgram::plant_fault() {
  const std::unique_lock alone(life_);
  expect_open();
  const ContextScope scope(device_.context());
  MK_CUDA(ctx_synchronize());
  for (const Place& place : places_) place.workspace->disturb();
}

std::uint64_t CudaProgram::bytes() const {
  std::shared_lock together(life_);
  if (!uploaded_) return 0;
  std::uint64_t total = uploaded_->instructions.bytes() + uploaded_->records.bytes() + uploaded_->outputs.bytes();
  std::scoped_lock lock(places_mutex_);
  for (const Place& place : places_) total += place.workspace->bytes();
  return total;
}

std::size_t CudaProgram::workspaces() const {
  std::shared_lock together(life_);
  std::scoped_lock lock(places_mutex_);
  return places_.size();
}

}  // namespace megakittens::runtime
