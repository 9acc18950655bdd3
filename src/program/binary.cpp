// The binary form: a header, a table of sections, the sections, all little-endian.
//   header   magic (8 bytes), version, number of sections, file size, hash of everything after the header
//   table    a section: kind, number of entries, offset, bytes
// Instructions and node records are their own bytes; everything else is written field by field.
#include <bit>
#include <concepts>
#include <cstring>
#include <span>

#include "program/program.hpp"
#include "support/error.hpp"
#include "support/hash.hpp"

namespace megakittens::program {
namespace {

static_assert(std::endian::native == std::endian::little, "the form is little-endian and read in place");
static_assert(std::has_unique_object_representations_v<Instruction>, "an instruction's bytes have no padding");

constexpr char kMagic[8] = {'M', 'K', 'P', 'R', 'O', 'G', '\r', '\n'};
constexpr std::size_t kMaxName = 1 << 16;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t sections;
  std::uint64_t bytes;
  std::uint64_t hash;
};

constexpr const char* kSectionNames[] = {"head",         "storages", "maps",   "records", "nodes",
                                         "instructions", "counters", "inputs", "outputs", "types"};
constexpr std::uint32_t kSections = std::size(kSectionNames);

/// Calls f(number, list) for every section behind the head.
void for_each_list(auto& program, auto&& f) {
  std::uint32_t number = 0;
  auto next = [&](auto&... lists) { (f(++number, lists), ...); };
  next(program.storages, program.maps, program.records, program.nodes, program.instructions, program.counters,
       program.inputs, program.outputs, program.types);
}

struct Section {
  std::uint32_t kind;
  std::uint32_t entries;
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Appends fields to a section.
class Writer {
 public:
  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <typename Field>
    requires std::is_arithmetic_v<Field> || std::is_enum_v<Field>
  void put(const Field& field) {
    bytes_.append(reinterpret_cast<const char*>(&field), sizeof(field));
  }
  void put(const std::string& text) {
    if (text.size() > kMaxName)
      throw CapacityError(
          fmt::format("a program file cannot hold '{}...': it is a text of {} bytes, and {} are possible",
                      text.substr(0, 40), text.size(), kMaxName));
    put(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& entry : list) put(entry);
  }
  template <typename T, std::size_t N>
  void put(const T (&list)[N]) {
    for (const T& entry : list) put(entry);
  }

  std::string bytes_;
};

/// Takes fields from a section; throws where it ends too early.
class Reader {
 public:
  Reader(std::string_view bytes, const char* section) : bytes_(bytes), section_(section) {}

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  void finish() const {
    if (!bytes_.empty()) fail(fmt::format("{} bytes are left over", bytes_.size()));
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw FormatError(fmt::format("program file: section {}: {}", section_, why));
  }

 private:
  std::string_view cut(std::size_t size) {
    if (size > bytes_.size()) fail("ends too early");
    std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  template <typename Field>
    requires(std::is_arithmetic_v<Field> && !std::same_as<Field, bool>) || std::is_enum_v<Field>
  void get(Field& field) {
    const std::string_view bytes = cut(sizeof(field));
    std::memcpy(&field, bytes.data(), bytes.size());
  }
  void get(bool& field) {
    const char byte = cut(1)[0];
    if (byte != 0 && byte != 1) fail("a flag is neither 0 nor 1");
    field = byte == 1;
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    if (size > kMaxName) fail(fmt::format("a text of {} bytes", size));
    text = cut(size);
  }
  template <typename T>
  void get(std::vector<T>& list) {
    std::uint32_t size = 0;
    get(size);
    if (size > bytes_.size() / sizeof(T)) fail("ends too early");
    list.resize(size);
    for (T& entry : list) get(entry);
  }
  template <typename T, std::size_t N>
  void get(T (&list)[N]) {
    for (T& entry : list) get(entry);
  }

  std::string_view bytes_;
  const char* section_;
};

template <typename T, typename S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

// Each structure's fields, once, for both directions.
void fields(auto& io, Is<Storage> auto& s) {
  io(s.name, s.kind, s.bytes, s.mutated, s.device);
}
void fields(auto& io, Is<TensorMapDescription> auto& m) {
  io(m.storage, m.type, m.rank, m.offset, m.sizes, m.strides, m.box, m.swizzle);
}
void fields(auto& io, Is<NodeInfo> auto& n) {
  io(n.name, n.op, n.source, n.icode, n.first, n.count, n.bytes, n.operations);
}
void fields(auto& io, Is<Counter> auto& c) {
  io(c.arrivals, c.reuse, c.scope);
}
void fields(auto& io, Is<Port> auto& p) {
  io(p.name, p.storage, p.type, p.offset, p.sizes, p.strides);
}
void fields(auto& io, Is<UserType> auto& t) {
  io(t.icode, t.name, t.fingerprint);
}
void fields(auto& io, Is<Program> auto& p) {
  auto& c = p.config;
  io(p.name, c.architecture, c.queue, c.sms, c.cluster, c.slots, c.pages, c.page_bytes);
}

template <typename T>
constexpr bool kIsRaw = std::same_as<T, Instruction> || std::same_as<T, NodeRecord>;

template <typename T>
std::string write_list(const std::vector<T>& list) {
  if constexpr (kIsRaw<T>) {
    return std::string(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
  } else {
    Writer writer;
    for (const T& entry : list) fields(writer, entry);
    return writer.take();
  }
}

template <typename T>
std::vector<T> read_list(std::string_view bytes, std::uint32_t entries, const char* name) {
  Reader reader(bytes, name);
  // Every entry has at least one byte, so a hostile count cannot ask for much memory.
  if (entries > bytes.size() / (kIsRaw<T> ? sizeof(T) : 1)) reader.fail(fmt::format("{} entries do not fit", entries));
  std::vector<T> list;
  if constexpr (kIsRaw<T>) {
    if (bytes.size() != entries * sizeof(T)) reader.fail(fmt::format("{} bytes for {} entries", bytes.size(), entries));
    list.resize(entries);
    if (entries > 0) std::memcpy(list.data(), bytes.data(), bytes.size());
  } else {
    for (std::uint32_t i = 0; i < entries; ++i) {
      T entry;
      fields(reader, entry);
      list.push_back(std::move(entry));
    }
    reader.finish();
  }
  return list;
}

struct Table {
  std::string_view bytes[kSections];
  std::uint32_t entries[kSections] = {};
};

Table read_table(std::string_view file) {
  Header header;
  if (file.size() < sizeof(header)) throw FormatError(fmt::format("program file: {} bytes are no header", file.size()));
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    throw FormatError("program file: it does not begin like one (another format, or changed by a text transfer)");
  if (header.version != kProgramVersion)
    throw FormatError(
        fmt::format("program file: version {}; this build reads version {}", header.version, kProgramVersion));
  if (header.bytes != file.size())
    throw FormatError(fmt::format("program file: {} bytes, its header says {}", file.size(), header.bytes));
  if (header.hash != hash64(file.substr(sizeof(header))))
    throw FormatError("program file: it is damaged (its hash is not the one in its header)");
  if (header.sections != kSections || file.size() < sizeof(header) + kSections * sizeof(Section))
    throw FormatError(fmt::format("program file: {} sections instead of {}", header.sections, kSections));
  Table table;
  for (std::uint32_t s = 0; s < kSections; ++s) {
    Section section;
    std::memcpy(&section, file.data() + sizeof(header) + s * sizeof(section), sizeof(section));
    if (section.kind != s || section.offset > file.size() || section.bytes > file.size() - section.offset)
      throw FormatError(fmt::format("program file: section {} lies outside the file", kSectionNames[s]));
    table.bytes[s] = file.substr(section.offset, section.bytes);
    table.entries[s] = section.entries;
  }
  return table;
}

}  // namespace

std::string to_bytes(const Program& program) {
  Writer head;
  fields(head, program);
  std::string parts[kSections] = {head.take()};
  std::size_t entries[kSections] = {1};
  for_each_list(program, [&](std::uint32_t s, const auto& list) {
    parts[s] = write_list(list);
    entries[s] = list.size();
  });
  std::string body;
  std::uint64_t offset = sizeof(Header) + kSections * sizeof(Section);
  for (std::uint32_t s = 0; s < kSections; ++s) {
    const Section section{s, static_cast<std::uint32_t>(entries[s]), offset, parts[s].size()};
    body.append(reinterpret_cast<const char*>(&section), sizeof(section));
    offset += parts[s].size();
  }
  for (const std::string& part : parts) body += part;
  Header header{.version = kProgramVersion, .sections = kSections, .bytes = offset, .hash = hash64(body)};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + body;
}

Program from_bytes(std::string_view bytes) {
  const Table table = read_table(bytes);
  Program program;
  Reader head(table.bytes[0], kSectionNames[0]);
  fields(head, program);
  head.finish();
  for_each_list(program, [&]<typename T>(std::uint32_t s, std::vector<T>& list) {
    list = read_list<T>(table.bytes[s], table.entries[s], kSectionNames[s]);
  });
  verify_bounds(program);
  return program;
}

}  // namespace megakittens::program
