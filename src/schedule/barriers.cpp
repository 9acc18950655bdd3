#include "schedule/phases.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/versions.hpp"
#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

/// Sets of instructions that are waited for together: each distinct set is one counter.
class SetTable {
 public:
  /// The number of the set of ascending `members`; numbers count from 0 at first sight.
  std::uint32_t intern(std::span<const std::uint32_t> members);
  std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size()) - 1; }
  std::span<const std::uint32_t> members(std::uint32_t set) const {
    return {members_.data() + first_[set], first_[set + 1] - first_[set]};
  }

 private:
  void grow();

  std::vector<std::uint32_t> members_;
  std::vector<std::size_t> first_{0};
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  // set + 1, or 0 where free; a power of two of them
};

std::uint64_t hash_of(std::span<const std::uint32_t> members) {
  std::uint64_t hash = members.size();
  for (std::uint32_t member : members) {
    hash = (hash ^ member) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

std::uint32_t SetTable::intern(std::span<const std::uint32_t> members) {
  if (2 * (hashes_.size() + 1) > slots_.size()) grow();
  const std::uint64_t hash = hash_of(members);
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t set = slots_[slot] - 1;
    if (hashes_[set] == hash && std::ranges::equal(this->members(set), members)) return set;
  }
  members_.insert(members_.end(), members.begin(), members.end());
  first_.push_back(members_.size());
  hashes_.push_back(hash);
  slots_[slot] = size();
  return size() - 1;
}

void SetTable::grow() {
  slots_.assign(std::max<std::size_t>(slots_.size() * 2, 1024), 0);
  for (std::size_t set = 0; set < hashes_.size(); ++set) {
    std::size_t slot = hashes_[set] & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(set) + 1;
  }
}

class Connector {
 public:
  Connector(const ir::Graph& graph, const Placement& placement, const std::vector<NodeTiles>& tiles)
      : graph_(graph), placement_(placement), versions_(graph, placement, tiles) {
    consumed_.resize(graph.values.size());
    stamp_.assign(placement.end, 0);
  }

  void connect_node(ir::NodeId n);
  void connect_reuse(const Reuse& reuse);
  Dependencies finish() &&;

 private:
  struct Entry {
    std::uint32_t place;
    std::uint32_t set;
    std::uint32_t guard;
  };

  void read_single(ir::NodeId n, const Footprint& boxes, ir::ValueId value, std::uint32_t guard);
  void follow_versions(ir::NodeId n, const Footprint& boxes, ir::ValueId value, std::uint32_t guard, bool write);
  void wait_for_readers(ir::NodeId n, std::uint32_t i, ir::ValueId value);
  void wait_for_writer(ir::NodeId n, std::uint32_t i, ir::ValueId value, std::uint32_t guard, bool write);
  void forbid_self_overwrite(const Touch& reader, std::uint32_t i);

  // Gathering the instructions of one node into `found_`, each once.
  void start_set() { found_.clear(), ++epoch_; }
  void add(std::uint32_t place) {
    if (stamp_[place] == epoch_) return;
    stamp_[place] = epoch_;
    found_.push_back(place);
  }
  void gather(const Touch& touch, const std::int64_t* box);
  std::uint32_t finish_set();

  void wait(std::uint32_t place, std::uint32_t set, std::uint32_t guard);
  void mark_consumed(ir::ValueId value);

  const ir::Graph& graph_;
  const Placement& placement_;
  Versions versions_;
  SetTable sets_;
  std::vector<Entry> entries_;
  std::vector<std::vector<bool>> consumed_;  // by value and instruction of its producer: a reader waits for it
  std::vector<std::uint32_t> found_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t epoch_ = 0;
  BoxSet rest_;
};

void Connector::gather(const Touch& touch, const std::int64_t* box) {
  const BoxIndex& index = versions_.index(touch);
  const std::uint32_t base = placement_.nodes[touch.node].first;
  if (auto range = index.locate(box)) index.visit(*range, box, [&](std::uint32_t i) { add(base + i); });
}

std::uint32_t Connector::finish_set() {
  std::sort(found_.begin(), found_.end());
  return sets_.intern(found_);
}

void Connector::wait(std::uint32_t place, std::uint32_t set, std::uint32_t guard) {
  MK_CHECK(sets_.members(set).back() < place, "instruction {} would wait for {}", place, sets_.members(set).back());
  entries_.push_back({place, set, guard});
}

void Connector::mark_consumed(ir::ValueId value) {
  const PlacedNode& producer = placement_.nodes[graph_.value(value).producer];
  std::vector<bool>& consumed = consumed_[value];
  consumed.resize(producer.count);
  for (std::uint32_t place : found_) consumed[place - producer.first] = true;
}

void Connector::connect_node(ir::NodeId n) {
  const ir::Node& node = graph_.nodes[n];
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    const Footprint& boxes = versions_.boxes({n, static_cast<int>(k)});
    const ir::ValueId value = node.operands[k].value;
    if (boxes.instructions() == 0) continue;  // nothing in the graph writes it
    const std::uint32_t guard = program::guard_bit(static_cast<std::uint32_t>(k));
    if (graph_.value(value).mutation)
      follow_versions(n, boxes, value, guard, false);
    else if (graph_.value(value).producer >= 0)
      read_single(n, boxes, value, guard);
  }
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    const ir::Value& output = graph_.value(node.outputs[o]);
    const Footprint& boxes = versions_.boxes({n, static_cast<int>(node.operands.size() + o)});
    if (output.mutation) follow_versions(n, boxes, output.mutation->of, program::kGuardWrite, true);
  }
}

// The common case: one producer. Neighbouring instructions often read the same cells and share the result.
void Connector::read_single(ir::NodeId n, const Footprint& boxes, ir::ValueId value, std::uint32_t guard) {
  const Touch writer = versions_.writer(value);
  const BoxIndex& index = versions_.index(writer);
  const std::uint32_t base = placement_.nodes[writer.node].first;
  const std::uint32_t first = placement_.nodes[n].first;
  std::optional<BoxIndex::Range> last;
  std::uint32_t set = 0;
  for (std::uint32_t i = 0; i < boxes.instructions(); ++i) {
    const std::uint32_t count = boxes.first(i + 1) - boxes.first(i);
    const std::int64_t* box = boxes.box(boxes.first(i));
    if (count == 1 && index.exact()) {
      const auto range = index.locate(box);
      if (!range) continue;
      if (range == last) {
        wait(first + i, set, guard);
        continue;
      }
      last = range;
    } else {
      last.reset();
    }
    start_set();
    for (std::uint32_t b = boxes.first(i); b < boxes.first(i + 1); ++b)
      if (auto range = index.locate(boxes.box(b)))
        index.visit(*range, boxes.box(b), [&](std::uint32_t j) { add(base + j); });
    if (found_.empty()) {
      last.reset();
      continue;
    }
    set = finish_set();
    mark_consumed(value);
    wait(first + i, set, guard);
  }
}

// From the newest version back, for as long as some elements were not written by a later one.
void Connector::follow_versions(ir::NodeId n, const Footprint& boxes, ir::ValueId value, std::uint32_t guard,
                                bool write) {
  for (std::uint32_t i = 0; i < boxes.instructions(); ++i) {
    rest_.assign(boxes, i);
    for (ir::ValueId version = value; !rest_.empty();) {
      if (write) wait_for_readers(n, i, version);
      if (graph_.value(version).producer < 0) break;
      wait_for_writer(n, i, version, guard, write);
      if (!graph_.value(version).mutation) break;
      version = graph_.value(version).mutation->of;
    }
  }
}

void Connector::wait_for_readers(ir::NodeId n, std::uint32_t i, ir::ValueId value) {
  const std::uint32_t place = placement_.nodes[n].first + i;
  for (const Touch& reader : versions_.readers(value)) {
    start_set();
    for (std::size_t b = 0; b < rest_.size(); ++b) gather(reader, rest_.box(b));
    if (reader.node == n) {
      forbid_self_overwrite(reader, i);
      continue;
    }
    MK_CHECK(reader.node < n, "{} reads a version that {} overwrote before", graph_.describe(graph_.nodes[reader.node]),
             graph_.describe(graph_.nodes[n]));
    if (!found_.empty()) wait(place, finish_set(), program::kGuardWrite);
  }
}

// A graph may only read, element by element, what it overwrites; a type whose tiles read more than they write cannot
// take such a node. Hulls prove nothing.
void Connector::forbid_self_overwrite(const Touch& reader, std::uint32_t i) {
  const PlacedNode& node = placement_.nodes[reader.node];
  const Footprint& boxes = versions_.boxes(reader);
  if (!boxes.exact(i)) return;
  const std::uint32_t place = node.first + i;
  for (std::uint32_t other : found_) {
    const bool partners = node.plan->paired && other / 2 == place / 2;
    if (other == place || partners || !boxes.exact(other - node.first)) continue;
    throw UnsupportedError(
        fmt::format("{} overwrites elements that other tiles of it still read; copy the operand before the update",
                    graph_.describe(graph_.nodes[reader.node])));
  }
}

void Connector::wait_for_writer(ir::NodeId n, std::uint32_t i, ir::ValueId value, std::uint32_t guard, bool write) {
  const Touch writer = versions_.writer(value);
  start_set();
  for (std::size_t b = 0; b < rest_.size(); ++b) gather(writer, rest_.box(b));
  if (found_.empty()) return;
  const std::uint32_t set = finish_set();
  if (!write) mark_consumed(value);
  wait(placement_.nodes[n].first + i, set, guard);
  if (!graph_.value(value).mutation) return;
  const Footprint& boxes = versions_.boxes(writer);
  const std::uint32_t base = placement_.nodes[writer.node].first;
  for (std::uint32_t place : found_) {
    const std::uint32_t j = place - base;
    if (!boxes.exact(j)) continue;
    for (std::uint32_t b = boxes.first(j); b < boxes.first(j + 1); ++b) rest_.subtract(boxes.box(b));
  }
}

void Connector::connect_reuse(const Reuse& reuse) {
  start_set();
  for (const Touch& reader : versions_.readers(reuse.before)) {
    const PlacedNode& node = placement_.nodes[reader.node];
    for (std::uint32_t place = node.first; place < node.end(); ++place) add(place);
  }
  // Readers waited for the producer's instructions that they read; the others must be waited for here.
  const PlacedNode& producer = placement_.nodes[graph_.value(reuse.before).producer];
  std::vector<bool>& consumed = consumed_[reuse.before];
  consumed.resize(producer.count);
  for (std::uint32_t i = 0; i < producer.count; ++i)
    if (!consumed[i]) add(producer.first + i);
  const std::uint32_t set = finish_set();
  const PlacedNode& taker = placement_.nodes[graph_.value(reuse.now).producer];
  for (std::uint32_t place = taker.first; place < taker.end(); ++place) wait(place, set, program::kGuardWrite);
}

Dependencies Connector::finish() && {
  Dependencies result;
  const std::uint32_t places = placement_.end;
  result.counters.resize(sets_.size());
  result.arrival_first.assign(places + 1, 0);
  for (std::uint32_t set = 0; set < sets_.size(); ++set) {
    result.counters[set].arrivals = static_cast<std::uint32_t>(sets_.members(set).size());
    for (std::uint32_t place : sets_.members(set)) ++result.arrival_first[place + 1];
  }
  std::partial_sum(result.arrival_first.begin(), result.arrival_first.end(), result.arrival_first.begin());
  result.arrivals.resize(result.arrival_first[places]);
  std::vector<std::uint32_t> next(result.arrival_first.begin(), result.arrival_first.end() - 1);
  for (std::uint32_t set = 0; set < sets_.size(); ++set)
    for (std::uint32_t place : sets_.members(set)) result.arrivals[next[place]++] = set;

  // A counter is for reuse where only writes wait for it.
  std::vector<std::uint32_t> guards(sets_.size(), 0);
  for (const Entry& entry : entries_) guards[entry.set] |= entry.guard;
  for (std::uint32_t set = 0; set < sets_.size(); ++set)
    result.counters[set].reuse = guards[set] == program::kGuardWrite;

  std::vector<std::uint32_t> entry_first(places + 1, 0);
  for (const Entry& entry : entries_) ++entry_first[entry.place + 1];
  std::partial_sum(entry_first.begin(), entry_first.end(), entry_first.begin());
  std::vector<GuardedWait> sorted(entries_.size());
  next.assign(entry_first.begin(), entry_first.end() - 1);
  for (const Entry& entry : entries_) sorted[next[entry.place]++] = {entry.set, entry.guard};
  result.wait_first.assign(places + 1, 0);
  result.waits.reserve(sorted.size());
  for (std::uint32_t place = 0; place < places; ++place) {
    const auto begin = static_cast<std::ptrdiff_t>(result.waits.size());
    for (std::uint32_t e = entry_first[place]; e < entry_first[place + 1]; ++e) {
      auto same = std::find_if(result.waits.begin() + begin, result.waits.end(),
                               [&](const GuardedWait& wait) { return wait.counter == sorted[e].counter; });
      if (same == result.waits.end())
        result.waits.push_back(sorted[e]);
      else
        same->guard |= sorted[e].guard;
    }
    result.wait_first[place + 1] = static_cast<std::uint32_t>(result.waits.size());
  }
  return result;
}

}  // namespace

Dependencies connect(const ir::Graph& graph, const Placement& placement, const std::vector<NodeTiles>& tiles,
                     const StorageTable& storages) {
  Connector connector(graph, placement, tiles);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) connector.connect_node(static_cast<ir::NodeId>(n));
  for (const Reuse& reuse : storages.reuses) connector.connect_reuse(reuse);
  return std::move(connector).finish();
}

}  // namespace megakittens::schedule
