// Checks a program's orderings from the program alone, by code that shares nothing with the scheduler.
#pragma once

#include <functional>

#include "ops/instruction_type.hpp"

namespace megakittens::schedule {

#define MK_RULES(X) \
  X(bounds, "bounds") /* program::verify_bounds refuses it */ \
  X(fit, "fit") /* an instruction, its record and its type do not belong together, or program::unserved_part */ \
  X(counts, "counts") /* a counter is raised, or a wait needs, another number of times than declared */ \
  X(deadlock, "deadlock") /* waits and queue order form a cycle, or a ticket waits for a later one */ \
  X(page_maps, "page maps") /* a release order is no order of the pages, or the CTAs of a pair would disagree on page maps */ \
  X(outside, "outside") /* a region lies outside its storage, or is written though its operand is no output */ \
  X(never_written, "never written") /* something is read, or returned, that nothing wrote */ \
  X(read_after_write, "read after write") /* a reader does not wait for the writer of what it reads */ \
  X(write_after_read, "write after read") /* a writer does not wait for a reader of what it overwrites */ \
  X(write_after_write, "write after write") /* a writer does not wait for the writer of what it overwrites */ \
  X(live_overlap, "live values overlap") /* a reader waits for a writer whose value another has overwritten before */

enum class Rule : std::uint8_t {
#define MK_X(enumerator, name) enumerator,
  MK_RULES(MK_X)
#undef MK_X
};
std::string_view name_of(Rule rule);

struct Finding {
  Rule rule = Rule::bounds;
  std::uint32_t instruction = 0;
  /// The other instruction of a pair; the same one where there is none.
  std::uint32_t other = 0;
  /// A sentence that names both with their nodes, the storage and the region.
  std::string text;
  /// Of never_written: what has the hole.
  std::uint32_t storage = kNoStorage;
  static constexpr std::uint32_t kNoStorage = ~0u;
};

struct VerifyOptions {
  /// Stops after so many.
  std::size_t most = 100;
  /// Regions by icode; ops::type_of_icode unless a test supplies its own types.
  std::function<const ops::InstructionType&(std::uint16_t)> type_of;
};

/// Empty where the program keeps all rules. What counts as order:
/// - B's access comes after instruction A where B has a wait that guards this access, for a counter that A raises, or
///   that an instruction raises which itself waits (with any guard that it uses) for A, and so on. A wait counts only
///   where it needs every arrival: fewer do not say whose they were.
/// - Queue order alone orders no data: consecutive instructions of a list overlap, and one without arrivals may leave
///   stores in flight. It decides whether the program can move: per-SM lists together with all waits must be free of
///   cycles; tickets of the global queue may be held by any number of SMs, so each wait must point to a lower number.
/// Every pair of overlapping accesses is covered, exactly, to the byte. In per-SM lists the two CTAs of a pair release
/// pages in the same order at each place, so that their page maps stay equal.
/// Throws FormatError for an icode that no type has, CapacityError where regions of one storage need more than 2^26
/// pieces to be told apart.
std::vector<Finding> verify(const program::Program& program, const VerifyOptions& options = {});

/// Whether the program is served, and instructions fit their records and types (InstructionType::record_fault,
/// instruction_fault): a pass without orderings, in no order of findings but the program's. Needs
/// program::verify_bounds.
std::vector<Finding> verify_fit(const program::Program& program, const VerifyOptions& options = {});
/// What every reader of a program file relies on before it runs it. Throws FormatError with the first finding.
void expect_fit(const program::Program& program);

/// Whether schedule() verifies what it made: MEGAKITTENS_VERIFY, and unless that says no where users' types, whose
/// plans and regions nobody has tested, have a part in it. Throws OptionError for an impossible value.
bool verifies_schedules(bool with_users_types = false);
/// Throws with the first findings, if there are any: UserError naming the user's types whose plan() or touches() they
/// come from, InternalError where they come from no user's type.
void expect_verified(const program::Program& program, const VerifyOptions& options = {});

}  // namespace megakittens::schedule
