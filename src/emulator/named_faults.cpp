#include "emulator/named_faults.hpp"

#include <charconv>

#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

using P = FaultPoint;

constexpr NamedFault twin(std::string_view name, std::string_view shown_by, FaultPoint point, std::string_view role,
                          std::string_view object, std::string_view checker, std::string_view weakens) {
  return {name, weakens, shown_by, true, point, role, object, ProgramFault::none, {}, checker};
}
constexpr NamedFault scheduler(std::string_view name, std::string_view shown_by, ProgramFault program,
                               std::string_view verifier, std::string_view checker, std::string_view weakens) {
  return {name, weakens, shown_by, false, {}, {}, {}, program, verifier, checker};
}

constexpr NamedFault kFaults[] = {
    // Proxy fences.
    twin("no-fence-before-loading-ordinary-stores", "products", P::kFenceProxyAsyncGlobal, "follower", "",
         "proxy-fence-global", "fence.proxy.async.global between acquire and bulk load, of ordinary stores"),
    twin("no-fence-behind-gathered-operands", "gathers", P::kFenceProxyAsyncShared, "consumer", "", "writer-fence",
         "fence.proxy.async.shared::cta between staged operands and a page's next bulk copy"),
    twin("no-fence-before-tensor-core", "general", P::kFenceProxyAsyncShared, "consumer", "", "proxy-fence-shared",
         "the same fence between staged operands and wgmma"),
    twin("no-fence-after-mbarrier-init", "products", P::kFenceMbarrierInit, "", "", "barrier-not-published",
         "fence.mbarrier_init before copies signal the objects"),
    twin("no-fence-for-tensor-maps", "products", P::kFenceTensorMap, "controller", "", "tensor-map-fence",
         "fence.proxy.tensormap before a CTA's first copy by a map in global memory"),
    // Completion of asynchronous work.
    twin("stage-released-before-wgmma-retires", "deep products", P::kWgmmaWaitGroup, "consumer", "",
         "released-under-wgmma", "wgmma.wait_group before a stage and its pages are given back"),
    twin("no-wgmma-fence", "deep products", P::kWgmmaFence, "consumer", "", "accumulator-in-flight",
         "wgmma.fence before the first product of a group"),
    twin("commit-before-products-are-done", "deep Blackwell products", P::kTcgenCommit, "launcher", "products_done",
         "released-under-tcgen05", "tcgen05.commit of a stage's products: its arrival comes at once"),
    twin("accumulator-announced-early", "Blackwell products", P::kTcgenCommit, "launcher", "accumulator_full",
         "tensor-not-committed", "tcgen05.commit of a whole tile: its arrival comes at once"),
    twin("no-wait-for-tensor-loads", "deep Blackwell products", P::kTcgenWait, "consumer", "",
         "tensor-reused|accumulator-in-flight", "tcgen05.wait::ld before tensor memory is given back"),
    twin("no-fence-before-giving-tensor-memory-back", "deep Blackwell products", P::kTcgenFenceBefore, "consumer", "",
         "tensor-reused", "tcgen05.fence::before_thread_sync of the readers"),
    twin("no-fence-after-taking-tensor-memory", "deep Blackwell products", P::kTcgenFenceAfter, "launcher", "",
         "tensor-reused", "tcgen05.fence::after_thread_sync of the issuing thread"),
    twin("no-fence-before-reading-the-accumulator", "Blackwell products", P::kTcgenFenceAfter, "consumer", "",
         "tensor-not-committed", "tcgen05.fence::after_thread_sync of the readers"),
    // Tokens and phases inside a CTA.
    twin("stage-read-before-it-is-full", "products", P::kMbarrierWait, "consumer", "stage_full", "unwaited-load",
         "a consumer's wait for an operand stage"),
    twin("products-issued-before-stage-is-full", "Blackwell products", P::kMbarrierWait, "launcher", "stage_full",
         "unwaited-load|unwritten", "the launcher's wait for an operand stage"),
    twin("stage-refilled-before-it-is-free", "deep products", P::kMbarrierWait, "loader", "stage_free",
         "released-under-wgmma|barrier-misuse|lapped-waiter", "the loader's wait for a stage to be consumed"),
    twin("page-loaded-without-its-token", "gathers", P::kMbarrierWait, "loader", "page_free",
         "released-under-store|page-overwritten|writer-fence|barrier-misuse", "the loader's wait for a page's token"),
    twin("page-taken-without-its-token", "deep products", P::kMbarrierWait, "loader", "page_free",
         "released-under-wgmma", "the same, of pages that products read"),
    twin("page-finished-twice", "tiles on one SM", P::kMbarrierArriveTwice, "storer", "page_free", "barrier-misuse",
         "an instruction finishes a page twice"),
    twin("page-never-finished", "tiles on one SM", P::kMbarrierArrive, "storer", "page_free", "deadlock",
         "an instruction does not give a page back"),
    twin("too-few-bytes-expected", "products", P::kMbarrierExpect, "", "stage_full", "deadlock|unwaited-load",
         "expect_tx names half of the bytes that the copies bring"),
    twin("slot-overwritten-under-its-roles", "tiles on one SM", P::kMbarrierWait, "controller", "slot_done",
         "ordinary-race|barrier-misuse|lapped-waiter", "the controller's wait for the slot's last instruction"),
    twin("accumulator-overwritten-under-its-readers", "deep Blackwell products", P::kMbarrierWait, "launcher",
         "accumulator_free", "tensor-reused", "the launcher's wait for the consumers of the last tile"),
    twin("set-up-not-awaited", "products", P::kNamedBarrier, "", "",
         "barrier-not-published|ordinary-race|unwritten|barrier-misuse", "the CTA's barrier after its set-up"),
    // Hand-offs between SMs.
    twin("arrival-without-release", "products", P::kRelease, "storer", "", "not-released",
         ".release of the counters' red"),
    twin("wait-without-acquire", "general", P::kAcquire, "follower", "", "not-released",
         ".acquire of the loads that wait for a counter"),
    twin("bulk-load-without-acquire", "products", P::kAcquire, "follower", "", "not-released",
         "the same, before a bulk load"),
    twin("reuse-wait-without-acquire", "reuse", P::kAcquire, "storer", "", "reused-under-reader|not-released",
         "the same, of a reuse wait"),
    twin("dependency-not-awaited", "products", P::kCounterWait, "follower", "", "not-released|unwritten",
         "the follower's wait for its operands' counters"),
    twin("reuse-not-awaited-by-bulk-store", "reuse", P::kCounterWait, "storer", "", "reused-under-reader",
         "the storer's wait before the instruction's first write"),
    twin("write-before-reuse-wait", "general reuse", P::kMbarrierWait, "consumer", "writable", "reused-under-reader",
         "the consumers' wait for the storer's reuse wait: they write first"),
    twin("arrival-before-the-writes", "products", P::kMbarrierWait, "storer", "written", "not-released",
         "the storer's wait for the consumers' stores before it arrives"),
    // Only where a wait needs less than all arrivals can its counter go past it.
    {"counter-compared-with-==", "a wait that a counter past its target no longer satisfies", "products", true,
     P::kCounterEquality, "follower", "", ProgramFault::needed_too_few, "counts", "deadlock"},
    twin("counters-left-over", "products", P::kCountersLeft, "", "", "not-released|unwritten",
         "counters that an earlier launch raised, while the tickets are new"),
    twin("region-shrunk", "products", P::kDeclaredRegions, "", "", "undeclared",
         "the regions that an instruction type declares lack a row"),
    // The scheduler.
    scheduler("wait-forgotten", "products", ProgramFault::wait_dropped, "read after write", "not-released|unwritten",
              "an instruction does not wait for the producer of an operand"),
    scheduler("reuse-wait-forgotten", "reuse", ProgramFault::reuse_wait_dropped, "write after read",
              "reused-under-reader", "an instruction does not wait for the readers of what it overwrites"),
    scheduler("earlier-write-not-awaited", "overwrites", ProgramFault::reuse_wait_dropped, "write after write",
              "not-released|reused-under-reader|store-not-complete",
              "an instruction does not wait for who wrote what it overwrites"),
    scheduler("live-values-share-storage", "residual", ProgramFault::storage_shared, "write after write",
              "reused-under-reader|not-released",
              "a buffer is given to a second value while the first is still to be read"),
    scheduler("producer-forgotten", "products", ProgramFault::last_producer_forgotten, "read after write",
              "not-released|unwritten", "a dependency leaves out one of the tiles that the box overlaps"),
    scheduler("wait-target-swapped", "general", ProgramFault::wait_target_swapped, "read after write",
              "not-released|unwritten", "a wait names another counter"),
    scheduler("needed-one-too-few", "products", ProgramFault::needed_too_few, "counts", "not-released|unwritten",
              "a wait needs fewer arrivals than the counter has"),
    scheduler("needed-one-too-many", "products", ProgramFault::needed_too_many, "bounds", "",
              "a wait needs more arrivals than the counter has"),
    scheduler("arrival-forgotten", "products", ProgramFault::arrival_dropped, "counts", "deadlock",
              "an instruction does not raise its counter"),
    scheduler("arrival-doubled", "products", ProgramFault::arrival_doubled, "counts", "not-released|unwritten",
              "an instruction raises its counter twice"),
    scheduler("wait-guards-another-operand", "products", ProgramFault::guard_of_other_operand, "read after write",
              "not-released|unwritten", "a wait holds back another access than the one it is for"),
    scheduler("waits-in-a-circle", "products", ProgramFault::wait_for_later, "deadlock", "deadlock",
              "two instructions wait for each other"),
    scheduler("wait-for-a-later-ticket", "products, global queue", ProgramFault::ticket_order, "deadlock", "deadlock",
              "in the global queue, a wait points to a later ticket"),
    scheduler("page-maps-of-a-pair-differ", "a pair's products", ProgramFault::page_map_of_one_cta, "page maps", "",
              "one CTA of a pair releases its pages in another order"),
    scheduler("page-released-twice-in-order", "tiles on one SM", ProgramFault::page_released_twice, "page maps",
              "released-under-store|page-overwritten|writer-fence|barrier-misuse|deadlock|unwaited-load|lapped-waiter",
              "a release order names a page twice: two logical pages become one"),
    scheduler("waits-beyond-capacity", "products", ProgramFault::waits_too_many, "bounds", "",
              "more waits than an instruction holds"),
};

std::int64_t number_of(const std::string& text, const std::string& value) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (fault != std::errc() || end != value.data() + value.size() || number < 0)
    throw OptionError(fmt::format("fault '{}': '{}' is no whole number", text, value));
  return number;
}

void set_filter(PlantedFault& fault, const std::string& text, const std::string& filter) {
  const std::size_t equals = filter.find('=');
  const std::string key = filter.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : filter.substr(equals + 1);
  if (key == "role") {
    fault.role = value;
  } else if (key == "object") {
    fault.object = value;
  } else if (key == "cta") {
    fault.cta = static_cast<int>(number_of(text, value));
  } else if (key == "warp") {
    fault.warp = static_cast<int>(number_of(text, value));
  } else if (key == "nth") {
    fault.nth = number_of(text, value);
  } else {
    throw OptionError(
        fmt::format("fault '{}': unknown filter '{}'; known are role, object, cta, warp, nth", text, key));
  }
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::span<const NamedFault> named_faults() {
  return kFaults;
}

std::vector<PlantedFault> NamedFault::twins() const {
  if (!in_twins) return {};
  PlantedFault fault{.point = twin};
  fault.role = role;
  fault.object = object;
  return {fault};
}

std::vector<std::string_view> NamedFault::checker_rules() const {
  return split(checker, '|');
}

FaultChoice parse_fault(const std::string& text) {
  std::string known;
  for (const NamedFault& fault : kFaults) {
    if (text == fault.name) {
      FaultChoice choice{fault.twins(), {}};
      if (fault.program != ProgramFault::none) choice.program.push_back(fault.program);
      return choice;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", fault.name);
  }
  for (int p = 0; p < kFaultPoints; ++p) {
    const std::string name = name_of(static_cast<FaultPoint>(p));
    known += fmt::format(", {}", name);
    // Names of points may hold colons themselves: the filters follow the last part that is the name.
    if (!text.starts_with(name) || (text.size() > name.size() && text[name.size()] != ':')) continue;
    PlantedFault fault{.point = static_cast<FaultPoint>(p)};
    bool fits = true;
    const std::string rest = text.size() > name.size() ? text.substr(name.size() + 1) : "";
    fits = rest.empty() || rest[0] != ':';  // "tcgen05.fence" is not the beginning of "tcgen05.fence::after"
    if (!fits) continue;
    for (const std::string_view filter : split(rest, ',')) set_filter(fault, text, std::string(filter));
    return {{fault}, {}};
  }
  throw OptionError(fmt::format("unknown fault '{}'; known are {}", text, known));
}

}  // namespace megakittens::emulator
