#include "emulator/faults.hpp"

namespace megakittens::emulator {

const char* name_of(FaultPoint point) {
  constexpr const char* kNames[] = {
#define MK_X(enumerator, name) name,
      MK_FAULT_POINTS(MK_X)
#undef MK_X
  };
  return kNames[static_cast<int>(point)];
}

FaultTable::FaultTable(const std::vector<PlantedFault>& faults, bool survey) : survey_(survey) {
  for (const PlantedFault& fault : faults) faults_.push_back({fault, 0});
}

bool FaultTable::hits(FaultPoint point, std::uint32_t cta, std::uint32_t warp, const char* role,
                      const std::string& object) {
  const std::string object_name = object.substr(0, object.find('['));
  if (survey_) places_.insert({point, role == nullptr ? "" : role, object_name});
  bool hit = false;
  for (Entry& entry : faults_) {
    const PlantedFault& fault = entry.fault;
    if (fault.point != point) continue;
    if (fault.cta >= 0 && static_cast<std::uint32_t>(fault.cta) != cta) continue;
    if (fault.warp >= 0 && static_cast<std::uint32_t>(fault.warp) != warp) continue;
    if (!fault.role.empty() && (role == nullptr || fault.role != role)) continue;
    if (!fault.object.empty() && object_name != fault.object) continue;
    const std::int64_t call = entry.calls++;
    hit |= fault.nth < 0 || fault.nth == call;
  }
  return hit;
}

}  // namespace megakittens::emulator
