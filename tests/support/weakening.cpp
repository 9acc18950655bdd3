#include "support/weakening.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/checked_programs.hpp"

namespace megakittens::test {
namespace {

using emulator::FaultPlace;
using emulator::FaultPoint;

constexpr std::uint64_t kStepLimit = 1'000'000;
constexpr std::uint64_t kFewForSilent = 3;  // they are run on every program

/// Points that spoil more than a hand-off, or something apart from the calls of one role.
bool is_counted(const FaultPlace& place) {
  // Without its slot a role would take whatever lies there for an instruction: addresses included.
  const bool reads_garbage = place.point == FaultPoint::kMbarrierWait && place.object == "slot_ready";
  return !reads_garbage && place.point != FaultPoint::kCounterEquality;
}

}  // namespace

std::map<FaultPlace, Weakening> weaken_everything(std::uint64_t most) {
  std::map<FaultPlace, Weakening> weakenings;
  for (const CheckedProgram& checked : fault_programs()) {
    const program::Program program = prepare(checked);
    const emulator::StorageContents inputs = random_contents(checked.graph(), program, 1);
    emulator::RunOptions survey;
    survey.arithmetic = false;
    survey.survey = true;
    for (const FaultPlace& place : emulator::Rehearsal(program, inputs).run(survey).fault_places) {
      if (!is_counted(place)) continue;
      Weakening& weakening = weakenings[place];
      if (!weakening.noticed.empty()) continue;
      emulator::PlantedFault fault{.point = place.point};
      fault.role = place.role;
      fault.object = place.object;
      emulator::ExploreOptions options;
      options.schedules = reason_for_silence(place).empty() ? most : std::min(most, kFewForSilent);
      options.stop_at_first = true;
      options.run.arithmetic = false;
      options.run.step_limit = kStepLimit;
      options.run.faults = {fault};
      const emulator::Exploration exploration = emulator::explore(program, inputs, options);
      weakening.runs += exploration.schedules;
      if (exploration.ok()) continue;
      weakening.noticed = exploration.found.front().name;
      weakening.shown_by = checked.name;
    }
  }
  return weakenings;
}

std::string reason_for_silence(const FaultPlace& place) {
  if (place.point == FaultPoint::kRelease && place.role == "controller")
    return "the note that a CTA has left is read by the next launch alone";
  if (place.point == FaultPoint::kNamedBarrier && !place.role.empty() && place.role != "launcher")
    return "a CTA's last barrier stands before the note that it has left, which the next launch alone reads";
  if (place.role == "storer" &&
      (place.point == FaultPoint::kFenceProxyAsyncGlobal || place.point == FaultPoint::kFenceProxyAsync))
    return "the standard types write by ordinary stores: the fence is for users' types that write by bulk stores";
  return "";
}

std::string to_string(const FaultPlace& place) {
  std::string text = emulator::name_of(place.point);
  if (!place.object.empty()) text += fmt::format(" of {}", place.object);
  if (!place.role.empty()) text += fmt::format(" by the {}", place.role);
  return text;
}

}  // namespace megakittens::test
